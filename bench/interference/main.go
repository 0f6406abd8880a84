// Command interference measures the effect of co-location on this machine as a real node: how long requests to a service take when it
// runs alone, when an unrestricted batch job runs beside it, and when the job is a best-effort pod of Koordinator's; and how much of
// the machine is used each time. It needs root, Linux and `make real-node`, and a machine with nothing else to do.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"koordinator.sh/koord/bench/node"
	"koordinator.sh/koord/sandbox/workload"
)

// Bounds that a managed node must keep.
const (
	// mostSlower is how many times as long as alone the slowest hundredth of requests may take.
	mostSlower = 1.25
	// leastUsed is how many times as much of the machine must be used.
	leastUsed = 2.0
)

type options struct {
	rate     float64
	duration time.Duration
	rounds   int
	plot     string
	json     string
}

func main() {
	var o options
	flag.Float64Var(&o.rate, "rate", 50, "requests per second, each of which costs 5 ms of CPU time")
	flag.DurationVar(&o.duration, "duration", 30*time.Second, "how long each situation is measured, per round")
	flag.IntVar(&o.rounds, "rounds", 6, "how often the situations take turns")
	flag.StringVar(&o.plot, "plot", "", "file to draw the result into, as SVG")
	flag.StringVar(&o.json, "json", "", "file to write each request of every round into")
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
	n, err := node.Start(ctx, "interference")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.Stop(context.WithoutCancel(ctx))) }()
	b, err := newBench(ctx, n, o)
	if err != nil {
		return err
	}
	if err := workload.ComeFirst(true); err != nil {
		return err
	}
	for round := range o.rounds {
		for i := range situations {
			fmt.Fprintf(os.Stderr, "round %d of %d: %s\n", round+1, o.rounds, situations[i].name)
			if err := b.measure(ctx, &situations[i]); err != nil {
				return fmt.Errorf("%s: %w", situations[i].name, err)
			}
		}
	}
	results := b.results()
	report(os.Stdout, results)
	return errors.Join(write(o.json, func() ([]byte, error) { return json.Marshal(b.rounds) }),
		write(o.plot, func() ([]byte, error) { return plot(results), nil }))
}

func write(path string, content func() ([]byte, error)) error {
	if path == "" {
		return nil
	}
	data, err := content()
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}
