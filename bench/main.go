// Command bench measures what docs/performance.md reports, on this machine, with the programs in bin/. Times that depend
// on the machine are given beside those of a well-known program measured in the same run.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"time"

	"koordinator.sh/koord/test/sandboxtest"
)

// figure is one measured value and what it must not exceed.
type figure struct {
	name  string
	value float64
	unit  string
	limit float64 // 0 for none
	note  string
}

func main() {
	nodes := flag.Int("nodes", 1000, "nodes of the large sandbox; 0 leaves it out")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	figures, err := measure(ctx, *nodes)
	print(figures)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func measure(ctx context.Context, nodes int) ([]figure, error) {
	home, err := os.MkdirTemp("", "koord-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(home) }() // a temporary directory
	small, err := sandboxtest.New("bench", home)
	if err != nil {
		return nil, err
	}
	var figures []figure
	for _, part := range []func(context.Context, *sandboxtest.Sandbox, int) ([]figure, error){start, smallSandbox, largeSandbox} {
		more, err := part(ctx, small, nodes)
		figures = append(figures, more...)
		if err != nil {
			return figures, err
		}
	}
	return figures, nil
}

// print writes the figures as a Markdown table.
func print(figures []figure) {
	fmt.Println("| what | measured | must be | note |\n| --- | ---: | ---: | --- |")
	for _, f := range figures {
		limit := "-"
		if f.limit != 0 {
			limit = fmt.Sprintf("<= %.4g %s", f.limit, f.unit)
			if f.value > f.limit {
				limit += " (missed)"
			}
		}
		fmt.Printf("| %s | %.4g %s | %s | %s |\n", f.name, f.value, f.unit, limit, f.note)
	}
}

// median of the durations of n runs.
func median(n int, run func() (time.Duration, error)) (time.Duration, error) {
	var times []time.Duration
	for range n {
		took, err := run()
		if err != nil {
			return 0, err
		}
		times = append(times, took)
	}
	slices.Sort(times)
	return times[n/2], nil
}

// clock runs a program and returns its wall time; an exit code other than 0 is an error.
func clock(ctx context.Context, s *sandboxtest.Sandbox, program string, args ...string) (time.Duration, error) {
	began := time.Now()
	result, err := s.Run(ctx, "", program, args...)
	took := time.Since(began)
	if err == nil && result.Code != 0 {
		err = fmt.Errorf("%s %v: exit code %d: %s", filepath.Base(program), args, result.Code, result.Stderr)
	}
	return took, err
}
