// Command burn uses CPU and memory as configured, and serves requests that cost CPU time. It says on standard output what it
// does, and once a period how many requests it served and how long they took.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"koordinator.sh/koord/sandbox/workload"
)

func main() {
	var load workload.Load
	flag.Float64Var(&load.CPUs, "cpus", 0, "CPU to use, in cores")
	flag.IntVar(&load.MemoryMiB, "memory-mib", 0, "Memory to use, in MiB")
	flag.StringVar(&load.Address, "listen", "", "Address to serve requests on, such as :8080; empty disables it")
	flag.DurationVar(&load.PerRequest, "cpu-per-request", 5*time.Millisecond, "CPU time per request")
	flag.DurationVar(&load.Report, "report", 10*time.Second, "Interval between lines on standard output")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := load.Run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
