// Descheduler measures passes of koord-descheduler as a whole process, on a real API server with many nodes and pods of which a part is
// overutilized. The control plane runs on the same machine, but no other component: nothing reports or places anything while a pass is
// measured, and dryRun keeps the descheduler from creating jobs, so that every pass decides the same.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"koordinator.sh/koord/bench/controlplane"
)

// settings of a measurement.
type settings struct {
	// program is the koord-descheduler to measure.
	program string
	// nodes of the cluster, each with pods.
	nodes, pods int
	// passes that are measured, after those that fill the caches.
	passes int
	modes  []string
	// memory is the GOMEMLIMIT of koord-descheduler; none where it is empty.
	memory string
	// heap is the directory for profiles of the heap after the passes; none are written where it is empty.
	heap string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	chosen, err := parse(args)
	if err != nil {
		return err
	}
	plane, err := controlplane.Start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plane.Stop(context.WithoutCancel(ctx))) }()
	if err := plane.InstallKinds(ctx); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "creating %d nodes with %d pods each\n", chosen.nodes, chosen.pods)
	if err := populate(ctx, plane, chosen); err != nil {
		return fmt.Errorf("create the nodes: %w", err)
	}
	if chosen.memory != "" {
		if err := os.Setenv("GOMEMLIMIT", chosen.memory); err != nil { // of what is started from now on
			return err
		}
	}
	token, err := plane.MetricsToken(ctx, systemNamespace)
	if err != nil {
		return err
	}
	fmt.Println("| plugin | nodes | pods | a pass: CPU time | wall time | evictions requested | resident memory | peak |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, mode := range chosen.modes {
		figures, err := measure(ctx, plane, chosen, mode, token)
		if err != nil {
			return fmt.Errorf("%s: %w", mode, err)
		}
		fmt.Printf("| %s | %d | %d | %.2f s | %.2f s | %.0f | %.0f MiB | %.0f MiB |\n", mode, chosen.nodes, chosen.nodes*chosen.pods,
			figures.cpu.Seconds(), figures.wall.Seconds(), figures.evictions, figures.resident, figures.peak)
	}
	return nil
}

func parse(args []string) (chosen settings, err error) {
	flags := flag.NewFlagSet("descheduler", flag.ContinueOnError)
	flags.StringVar(&chosen.program, "koord-descheduler", "bin/koord-descheduler", "koord-descheduler to measure")
	flags.IntVar(&chosen.nodes, "nodes", 5000, "nodes of the cluster")
	flags.IntVar(&chosen.pods, "pods", 30, "pods of each node")
	flags.IntVar(&chosen.passes, "passes", 5, "passes to measure")
	flags.StringVar(&chosen.memory, "memory", "", "GOMEMLIMIT of koord-descheduler, which the chart sets to 90% of the memory limit of its container")
	flags.StringVar(&chosen.heap, "heap", "", "directory to write a profile of the heap to, for each plugin")
	modes := flags.String("plugins", planner+","+lowNodeLoad, "plugins to measure, one after the other")
	if err := flags.Parse(args); err != nil {
		return chosen, err
	}
	chosen.modes = strings.Split(*modes, ",")
	for _, mode := range chosen.modes {
		if mode != planner && mode != lowNodeLoad {
			return chosen, fmt.Errorf("unknown plugin %q: known are %s and %s", mode, planner, lowNodeLoad)
		}
	}
	if chosen.nodes < 2 || chosen.pods < 1 || chosen.passes < 1 {
		return chosen, fmt.Errorf("-nodes %d must be at least 2, -pods %d and -passes %d positive", chosen.nodes, chosen.pods, chosen.passes)
	}
	return chosen, nil
}
