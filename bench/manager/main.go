package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/rest"
)

// settings of a measurement.
type settings struct {
	parts []string
	// program is the koord-manager to measure.
	program string
	// runs is how often what is short is measured: changes of the configuration, and turns of admission.
	runs int
	// nodes of the cluster, each with podsPerNode pods, for the parts convergence, steady, plan and forecast.
	nodes, podsPerNode int
	// steady is how long the steady state is measured, after warmUp.
	steady, warmUp time.Duration
	// podRate is pods created a second, for podTime in each turn.
	podRate float64
	podTime time.Duration
	// quotas of the tree, and how many of its leaves are written in each turn: one after another, and at quotaRate a second.
	quotas, quotaWrites int
	quotaRate           float64
}

// stage is the parts that share a control plane.
type stage struct {
	parts   []string
	measure func(ctx context.Context, chosen settings) ([]figure, error)
}

// stages in the order in which they are measured.
var stages = []stage{
	{[]string{partConvergence, partSteady, partPlan, partForecast, partWrites}, measureFleet},
	{[]string{"admission"}, measureAdmission},
	{[]string{"quota"}, measureQuotas},
}

func partNames() []string {
	var names []string
	for _, s := range stages {
		names = append(names, s.parts...)
	}
	return names
}

func main() {
	rest.SetDefaultWarningHandler(rest.NoWarnings{}) // the configuration that is changed need not be without any
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	chosen, raw, err := parse(args)
	if err != nil {
		return err
	}
	figures, err := measure(ctx, chosen)
	report(os.Stdout, figures)
	if raw != "" && err == nil {
		err = writeJSON(raw, figures)
	}
	return err
}

// parse reads the flags; raw is the file for the figures.
func parse(args []string) (chosen settings, raw string, err error) {
	flags := flag.NewFlagSet("manager", flag.ContinueOnError)
	parts := flags.String("parts", strings.Join(partNames(), ","), "what to measure")
	flags.StringVar(&chosen.program, "koord-manager", "bin/koord-manager", "koord-manager to measure")
	flags.IntVar(&chosen.runs, "runs", 3, "changes of the configuration, and turns of admission")
	flags.IntVar(&chosen.nodes, "nodes", 5000, "nodes of the cluster (convergence, steady, plan, forecast)")
	flags.IntVar(&chosen.podsPerNode, "pods", 3, "pods of each node (convergence, steady, plan, forecast)")
	flags.DurationVar(&chosen.steady, "steady", 3*time.Minute, "how long the steady state is measured")
	flags.DurationVar(&chosen.warmUp, "warm-up", time.Minute, "how long the steady state lasts before that")
	flags.Float64Var(&chosen.podRate, "pod-rate", 200, "pods created a second (admission)")
	flags.DurationVar(&chosen.podTime, "pod-time", 20*time.Second, "how long pods are created in each turn (admission)")
	flags.IntVar(&chosen.quotas, "quotas", 10000, "leaves of the quota tree (quota)")
	flags.IntVar(&chosen.quotaWrites, "quota-writes", 500, "quotas written one after another, and again at a rate, in each turn (quota)")
	flags.Float64Var(&chosen.quotaRate, "quota-rate", 50, "quotas written a second (quota)")
	flags.StringVar(&raw, "json", "", "file to write the figures to")
	if err := flags.Parse(args); err != nil {
		return chosen, raw, err
	}
	chosen.parts = strings.Split(*parts, ",")
	for _, name := range chosen.parts {
		if !slices.Contains(partNames(), name) {
			return chosen, raw, fmt.Errorf("unknown part %q: known are %s", name, strings.Join(partNames(), ", "))
		}
	}
	return chosen, raw, chosen.check()
}

// check returns an error for sizes that nothing can be measured with.
func (s settings) check() error {
	if s.runs < 1 || s.nodes < 1 || s.podsPerNode < 0 || s.quotas < 1 || s.quotaWrites < 1 {
		return fmt.Errorf("-runs %d, -nodes %d, -quotas %d and -quota-writes %d must be positive, -pods %d not negative", s.runs, s.nodes, s.quotas, s.quotaWrites, s.podsPerNode)
	}
	if s.steady <= 0 || s.warmUp < 0 || s.podRate <= 0 || s.podTime <= 0 || s.quotaRate <= 0 {
		return fmt.Errorf("-steady %s, -pod-rate %g, -pod-time %s and -quota-rate %g must be positive, -warm-up %s not negative", s.steady, s.podRate, s.podTime, s.quotaRate, s.warmUp)
	}
	return nil
}

func (s settings) wants(part string) bool { return slices.Contains(s.parts, part) }

// measure measures the parts that were asked for. What was measured before an error is returned with it.
func measure(ctx context.Context, chosen settings) ([]figure, error) {
	var figures []figure
	for _, s := range stages {
		if !slices.ContainsFunc(s.parts, chosen.wants) {
			continue
		}
		more, err := s.measure(ctx, chosen)
		figures = append(figures, more...)
		if err != nil {
			return figures, fmt.Errorf("%s: %w", strings.Join(s.parts, ", "), err)
		}
	}
	return figures, nil
}

// say reports progress on standard error.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
}
