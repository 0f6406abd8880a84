// Command footprint measures what the node agent costs: its CPU time and memory with the default features and a reading a second, on
// this machine as a real node with pods of two containers each. It needs root, Linux and `make real-node`, and a machine with
// nothing else to do.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/bench/node"
)

// What the agent of the project whose API this is needs on a machine of two CPUs, with 50 pods of two containers; measured once, in
// the same way.
const (
	peerCores = 0.054
	peerMiB   = 100.0
)

// Bounds that the agent must keep with 50 pods.
const (
	mostOfPeersCPU = 0.25
	mostMiB        = 60.0
)

// systemPods run beside those of the benchmark, and count among the 110 that kubelet takes by default.
const systemPods = 3

type options struct{ settle, duration time.Duration }

func main() {
	var o options
	flag.DurationVar(&o.settle, "settle", time.Minute, "time between the start of the pods and the measurement")
	flag.DurationVar(&o.duration, "duration", 2*time.Minute, "how long the agent is measured")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (err error) {
	fmt.Fprintln(os.Stderr, "start a sandbox with this machine as its node")
	n, err := node.Start(ctx, "footprint")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.Stop(context.WithoutCancel(ctx))) }()
	var all []cost
	have := 0
	for _, want := range []int{50, 110 - systemPods} {
		fmt.Fprintf(os.Stderr, "run %d pods\n", want)
		var pods []*corev1.Pod
		for ; have < want; have++ {
			none := corev1.ResourceRequirements{}
			pods = append(pods, node.Pod(fmt.Sprintf("idle-%03d", have), node.Container("one", none), node.Container("two", none)))
		}
		if _, err := n.Create(ctx, pods...); err != nil {
			return err
		}
		c, err := measure(ctx, n, o)
		if err != nil {
			return err
		}
		c.pods = want
		all = append(all, c)
	}
	report(all)
	return nil
}

func report(all []cost) {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "pods\tcontainers\tcores\tmemory\tmemory grew\t")
	for _, c := range all {
		fmt.Fprintf(table, "%d\t%d\t%.4f\t%.1f MiB\t%+.1f MiB\t\n", c.pods, 2*c.pods, c.cores, c.memoryMiB, c.grewMiB)
	}
	_ = table.Flush() // to a terminal or a pipe that somebody reads
	verdict := func(kept bool) string {
		if kept {
			return "reached"
		}
		return "MISSED"
	}
	first := all[0]
	fmt.Printf("CPU with %d pods at most %.2fx of %.3f cores: %.2fx, %s\n", first.pods, mostOfPeersCPU, peerCores,
		first.cores/peerCores, verdict(first.cores <= mostOfPeersCPU*peerCores))
	fmt.Printf("memory with %d pods at most %.0f MiB, where the peer needs %.0f: %.1f MiB, %s\n", first.pods, mostMiB, peerMiB,
		first.memoryMiB, verdict(first.memoryMiB <= mostMiB))
}
