package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

func main() {
	load := flag.Int("load", 0, "be the load, on so many CPUs, switched by standard input (used by the benchmark itself)")
	steps := flag.Int("steps", 50, "load steps in each way")
	only := flag.String("way", "", "alarm, which is the agent's default, or period, which is without; both by default")
	flag.Parse()
	if *load > 0 {
		burn(*load, os.Stdin)
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	klog.SetLogger(logr.Discard())
	if err := run(ctx, *steps, *only); err != nil {
		fmt.Fprintln(os.Stderr, "suppression:", err)
		os.Exit(1)
	}
}

// way is one in which the agent is run.
type way struct {
	name  string
	alarm bool
	// target of the 99th percentile; 0 for none.
	target time.Duration
}

func run(ctx context.Context, steps int, only string) error {
	var problems []error
	for _, way := range []way{{"alarm", true, 250 * time.Millisecond}, {"period", false, 0}} {
		if only != "" && only != way.name {
			continue
		}
		latencies, missed, err := measure(ctx, way, steps)
		if err != nil {
			return fmt.Errorf("way %q: %w", way.name, err)
		}
		slices.Sort(latencies)
		p99 := percentile(latencies, 0.99)
		fmt.Printf("%-7s steps=%d missed=%d p50=%s p90=%s p99=%s max=%s target(p99)=%s\n", way.name, len(latencies), missed,
			percentile(latencies, 0.5), percentile(latencies, 0.9), p99, percentile(latencies, 1), way.target)
		if way.target > 0 && p99 > way.target || missed > 0 {
			problems = append(problems, fmt.Errorf("way %q misses its target", way.name))
		}
	}
	return errors.Join(problems...)
}

// percentile of sorted values by nearest rank; 0 of none.
func percentile(sorted []time.Duration, fraction float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	rank := int(fraction*float64(len(sorted))+0.999999) - 1
	return sorted[min(max(rank, 0), len(sorted)-1)].Round(time.Millisecond)
}
