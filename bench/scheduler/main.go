package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
)

// settings of a comparison.
type settings struct {
	nodes, pods, runs int
	workloads         []string
	schedulers        []scheduler
	// idle is for how long pods that cannot be placed are left alone.
	idle time.Duration
	// profiles is a directory for CPU profiles of the first seconds of each run, or of all the time that pods are left alone, and for heap profiles of its end; none when empty.
	profiles string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	var chosen settings
	flags := flag.NewFlagSet("scheduler", flag.ContinueOnError)
	flags.IntVar(&chosen.nodes, "nodes", 1000, "nodes of the cluster")
	flags.IntVar(&chosen.pods, "pods", 3000, "pods of one run")
	flags.IntVar(&chosen.runs, "runs", 3, "runs of each scheduler, taking turns")
	flags.DurationVar(&chosen.idle, "idle", 3*time.Minute, "how long pods are left alone that no node is for (expired, refused)")
	workloads := flags.String("workloads", "basic,batch", "workloads: "+strings.Join(workloadNames(), ", "))
	kube := flags.String("kube-scheduler", "", "kube-scheduler to compare with; none when empty")
	koord := flags.String("koord-scheduler", "bin/koord-scheduler", "koord-scheduler to measure; none when empty")
	flags.StringVar(&chosen.profiles, "profiles", "", "directory to write profiles of CPU and heap to; the profiled runs are a little slower")
	raw := flags.String("json", "", "file to write the single runs to")
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen.workloads = strings.Split(*workloads, ",")
	for _, name := range chosen.workloads {
		if !slices.Contains(workloadNames(), name) {
			return fmt.Errorf("unknown workload %q: known are %s", name, strings.Join(workloadNames(), ", "))
		}
	}
	if *kube != "" {
		chosen.schedulers = append(chosen.schedulers, scheduler{name: "kube-scheduler", program: *kube, asks: "default-scheduler"})
	}
	if *koord != "" {
		chosen.schedulers = append(chosen.schedulers, scheduler{name: "koord-scheduler", program: *koord, asks: "koord-scheduler", ours: true})
	}
	results, err := compare(ctx, chosen)
	report(os.Stdout, results)
	if *raw != "" && err == nil {
		err = writeJSON(*raw, results)
	}
	return err
}

// compare lets the schedulers take turns in every workload.
func compare(ctx context.Context, chosen settings) ([]result, error) {
	var results []result
	for _, name := range chosen.workloads {
		for turn := range chosen.runs {
			for _, s := range chosen.schedulers {
				if s.ours || !workloads[name].oursOnly {
					fmt.Fprintf(os.Stderr, "run %d of %d: %s, %s\n", turn+1, chosen.runs, name, s.name)
					measured, err := measure(ctx, chosen, name, s)
					if err != nil {
						return results, fmt.Errorf("%s with %s: %w", name, s.name, err)
					}
					results = append(results, measured)
				}
			}
		}
	}
	return results, nil
}

func writeJSON(path string, results []result) error {
	data, err := json.MarshalIndent(results, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}
