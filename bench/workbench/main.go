// Workbench measures koordctl as whole processes on a real API server with many nodes and pods: its commands beside kubectl's, and its
// terminal interface in a pseudo-terminal. The control plane and koord-manager run on the same machine, but no other component of koord: what
// has no answer without one is answered from API objects alone. koord-scheduler runs for the one command that is measured with it as well.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"time"

	"koordinator.sh/koord/bench/controlplane"
	"koordinator.sh/koord/bench/koordmanager"
)

// settings of a measurement.
type settings struct {
	// manager and scheduler are empty for none.
	koordctl, kubectl, manager, scheduler string
	// nodes of the cluster, each with pods.
	nodes, pods int
	// runs of each command, taking turns.
	runs int
	// idle is how long the terminal interface is left alone.
	idle time.Duration
	// only is a part of what is measured: a part of its command line, or the name of its screen; empty for all.
	only string
}

// measures says whether a command line or a screen is to be measured.
func (s settings) measures(name string) bool { return strings.Contains(name, s.only) }

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
	var ports koordmanager.Ports
	if chosen.manager != "" {
		if ports, err = koordmanager.Install(ctx, plane); err != nil {
			return err
		}
		manager, err := startManager(ctx, plane, ports, chosen)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, manager.Stop()) }()
	}
	metrics, err := serveMetrics(ctx, plane, chosen.nodes)
	if err != nil {
		return fmt.Errorf("serve the metrics API: %w", err)
	}
	defer func() { err = errors.Join(err, metrics.Close()) }()
	fmt.Printf("%d nodes, %d pods\n\n", chosen.nodes, chosen.nodes*chosen.pods)
	if err := commands(ctx, plane, chosen); err != nil {
		return err
	}
	if chosen.manager != "" {
		if err := scheduled(ctx, plane, ports, chosen); err != nil {
			return err
		}
	}
	fmt.Println()
	return terminal(ctx, plane, chosen)
}

func parse(args []string) (chosen settings, err error) {
	flags := flag.NewFlagSet("workbench", flag.ContinueOnError)
	flags.StringVar(&chosen.koordctl, "koordctl", "bin/koordctl", "koordctl to measure")
	flags.StringVar(&chosen.kubectl, "kubectl", "kubectl", "kubectl to compare with")
	flags.StringVar(&chosen.manager, "manager", "bin/koord-manager", "koord-manager that answers koordctl; empty for none")
	flags.StringVar(&chosen.scheduler, "koord-scheduler", "bin/koord-scheduler", "koord-scheduler, which runs for one command that is measured with it; empty for none")
	flags.IntVar(&chosen.nodes, "nodes", 5000, "nodes of the cluster")
	flags.IntVar(&chosen.pods, "pods", 10, "pods of each node")
	flags.IntVar(&chosen.runs, "runs", 5, "runs of each command")
	flags.DurationVar(&chosen.idle, "idle", 2*time.Minute, "how long the terminal interface is left alone")
	flags.StringVar(&chosen.only, "only", "", "part of the command lines and names of screens to measure, such as \"top nodes\"; empty for all")
	if err := flags.Parse(args); err != nil {
		return chosen, err
	}
	if chosen.nodes < 1 || chosen.pods < 1 || chosen.runs < 1 || chosen.idle <= 0 {
		return chosen, fmt.Errorf("-nodes %d, -pods %d, -runs %d and -idle %s must be positive", chosen.nodes, chosen.pods, chosen.runs, chosen.idle)
	}
	if chosen.kubectl, err = exec.LookPath(chosen.kubectl); err != nil {
		return chosen, fmt.Errorf("kubectl is what koordctl is compared with: %w", err)
	}
	return chosen, nil
}
