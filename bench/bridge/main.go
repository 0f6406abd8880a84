// Command bridge measures how soon YARN's view of the nodes equals Kubernetes' after services took batch resources back or returned them:
// the time from the change of a node's offer, as a watch of the API server tells it, to the ResourceManager receiving the capacity that
// follows from it. API server, koord-manager and koord-bridge are real; the ResourceManager speaks the protocol and schedules nothing.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"time"

	"koordinator.sh/koord/bench/controlplane"
	"koordinator.sh/koord/bench/koordmanager"
	"koordinator.sh/koord/bench/process"
	"koordinator.sh/koord/bridge/yarn/resourcemanagersim"
)

// settings of a measurement.
type settings struct {
	// bridge and manager are the programs.
	bridge, manager string
	// nodes of the cluster, and changes of each kind, every apart.
	nodes, changes int
	apart          time.Duration
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
	flags := flag.NewFlagSet("bridge", flag.ContinueOnError)
	flags.StringVar(&chosen.bridge, "koord-bridge", "bin/koord-bridge", "koord-bridge to measure")
	flags.StringVar(&chosen.manager, "koord-manager", "bin/koord-manager", "koord-manager beside it")
	flags.IntVar(&chosen.nodes, "nodes", 1000, "nodes of the cluster, each with a NodeManager")
	flags.IntVar(&chosen.changes, "changes", 200, "changes of each kind")
	flags.DurationVar(&chosen.apart, "apart", 100*time.Millisecond, "time between two changes")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if chosen.nodes < 1 || chosen.changes < 1 || chosen.apart <= 0 {
		return fmt.Errorf("-nodes %d, -changes %d and -apart %v must be positive", chosen.nodes, chosen.changes, chosen.apart)
	}
	return measure(ctx, chosen)
}

func measure(ctx context.Context, chosen settings) (err error) {
	plane, err := controlplane.Start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plane.Stop(context.WithoutCancel(ctx))) }()
	ports, err := koordmanager.Install(ctx, plane)
	if err != nil {
		return err
	}
	rm, err := resourcemanagersim.Start(ctx, "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer rm.Close()
	c := &cluster{ControlPlane: plane, rm: rm, chosen: chosen}
	if err := c.populate(ctx); err != nil {
		return fmt.Errorf("create the nodes: %w", err)
	}
	manager, err := koordmanager.Start(ctx, plane, chosen.manager, ports)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, manager.Stop()) }()
	bridge, err := c.startBridge(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bridge.Stop()) }()
	began := time.Now()
	if err := c.awaitShared(ctx); err != nil {
		return fmt.Errorf("%w\n%s", err, bridge.Tail())
	}
	fmt.Printf("%d nodes are shared after %v\n", chosen.nodes, time.Since(began).Round(time.Millisecond))
	return c.report(ctx, bridge)
}

// startBridge runs koord-bridge with its default flags, but for addresses.
func (c *cluster) startBridge(ctx context.Context) (*process.Process, error) {
	conf := filepath.Join(c.Home, "hadoop")
	if err := os.Mkdir(conf, 0o755); err != nil {
		return nil, err
	}
	site := fmt.Sprintf(`<configuration><property><name>yarn.resourcemanager.address</name><value>%[1]s</value></property>
<property><name>yarn.resourcemanager.admin.address</name><value>%[1]s</value></property></configuration>`, c.rm.Address())
	if err := os.WriteFile(filepath.Join(conf, "yarn-site.xml"), []byte(site), 0o600); err != nil {
		return nil, err
	}
	return process.Start(ctx, "koord-bridge", filepath.Join(c.Home, "koord-bridge.log"), c.chosen.bridge,
		"--kubeconfig="+filepath.Join(c.Sandbox.Directory(), "kubeconfig"), "--yarn-conf-dir="+conf, "--bind-address=127.0.0.1", "--secure-port=0",
		"--leader-elect=false")
}

// report measures both kinds of changes and prints what it found.
func (c *cluster) report(ctx context.Context, bridge *process.Process) error {
	cpuBefore, err := bridge.CPU()
	if err != nil {
		return err
	}
	began := time.Now()
	for _, kind := range []change{takenBack, returned} {
		took, err := c.changes(ctx, kind)
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", kind, err, bridge.Tail())
		}
		slices.Sort(took)
		fmt.Printf("%-40s p50 %v, p90 %v, p99 %v, max %v of %d\n", kind, percentile(took, 0.5), percentile(took, 0.9), percentile(took, 0.99), percentile(took, 1), len(took))
	}
	cpu, err := bridge.CPU()
	if err != nil {
		return err
	}
	peak, err := bridge.PeakMiB()
	if err != nil {
		return err
	}
	fmt.Printf("koord-bridge: %.1f%% of a CPU, %.0f MiB at most\n", 100*(cpu-cpuBefore).Seconds()/time.Since(began).Seconds(), peak)
	return nil
}

// percentile of sorted values by nearest rank.
func percentile(sorted []time.Duration, fraction float64) time.Duration {
	rank := int(fraction*float64(len(sorted))+0.999999) - 1
	return sorted[min(max(rank, 0), len(sorted)-1)].Round(time.Millisecond)
}
