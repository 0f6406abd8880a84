package koordlet

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/agent/connection"
	"koordinator.sh/koord/agent/host/alarm"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/host/machine"
	"koordinator.sh/koord/agent/host/program"
	"koordinator.sh/koord/agent/state"
)

// Run runs the agent until the context ends, and gives back what it changed on the machine. It returns an error when it cannot
// be started; an API server that is away, now or later, is waited for.
func Run(ctx context.Context, options *Options) error {
	if err := options.validate(); err != nil {
		return fmt.Errorf("start koordlet: %w", err)
	}
	if err := writable(options.StateDirectory); err != nil {
		klog.FromContext(ctx).Error(err, "State directory is not writable: files whose original is not saved yet stay unchanged, and predictions are lost on restart")
	}
	trees, err := openTrees(options)
	if err != nil {
		return fmt.Errorf("start koordlet: %w", err)
	}
	defer trees.close()
	layout, err := cgroup.Probe(trees.cgroup, options.KubeletCgroupRoot)
	if err != nil {
		return fmt.Errorf("start koordlet: %w", err)
	}
	options.layout = layout
	host, err := machine.New(machine.Options{Proc: trees.proc, Sys: trees.sys, Cgroup: trees.cgroup, Layout: layout, Clock: options.Clock})
	if err != nil {
		return fmt.Errorf("start koordlet: %w", err)
	}
	defer host.Close()
	clients, err := connection.New(options.RESTConfig, "koordlet", DefaultQPS)
	if err != nil {
		return fmt.Errorf("start koordlet: %w", err)
	}
	cluster, err := state.New(clients, options.NodeName)
	if err != nil {
		return fmt.Errorf("start koordlet: %w", err)
	}
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: clients.Core.EventsV1()})
	defer broadcaster.Shutdown()
	if err := broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
		return fmt.Errorf("start koordlet: %w", err)
	}
	enforcement, err := newEnforcement(options, clients.Core, broadcaster.NewRecorder(scheme.Scheme, "koordlet"), trees, layout)
	if err != nil {
		return fmt.Errorf("start koordlet: %w", err)
	}
	klog.FromContext(ctx).Info("Started koordlet", "node", options.NodeName, "cgroups", layout.Version, "driver", layout.Driver)
	return run(ctx, options, host, clients, cluster, enforcement)
}

func run(ctx context.Context, options *Options, host *machine.Machine, clients *connection.Clients, cluster *state.State, enforcement *enforcement) error {
	measurement := newMeasurement(options, host, cluster)
	status := newEnforcingStatus(options, cluster, enforcement)
	port, err := listen(ctx, options, cluster, measurement, enforcement, status)
	if err != nil {
		return fmt.Errorf("start koordlet: %w", err)
	}
	early := alarm.New(alarm.Options{Tree: enforcement.tree, Layout: options.layout, CPUs: runtime.NumCPU(), Clock: options.Clock})
	devices := newDevices(options, clients, cluster, host, enforcement.proc)
	measurement.devices = devices
	predictions := newPredictionStore(options, measurement)
	predictions.restore(ctx)
	var group sync.WaitGroup
	if !options.ReadOnly && options.Alarm {
		measurement.alarm = early.C()
		group.Go(func() { early.Run(ctx) })
	}
	group.Go(func() { cluster.Run(ctx) })
	group.Go(func() { status.run(ctx) })
	group.Go(func() { measurement.run(ctx, enforcement) })
	group.Go(func() { predictions.run(ctx) })
	group.Go(func() { devices.run(ctx) })
	group.Go(func() { enforcement.evictor.Run(ctx) })
	group.Go(func() { enforcement.copilots.Run(ctx) })
	group.Go(func() { enforcement.observe(ctx, cluster) })
	group.Go(func() { enforcement.serveRuntimes(ctx) })
	group.Go(func() { enforcement.runWorkers(ctx) })
	group.Go(func() { newReporting(options, clients, cluster, measurement, status).run(ctx) })
	group.Go(func() { newTopologies(options, clients, cluster, host, port).run(ctx) })
	group.Go(func() { port.run(ctx) })
	group.Go(func() { program.Run(ctx, options.Clock) })
	group.Wait()
	return enforcement.restore(context.WithoutCancel(ctx))
}

// trees of the kernel's files.
type trees struct{ proc, sys, cgroup *files.Real }

func openTrees(options *Options) (*trees, error) {
	out := &trees{}
	var problems []error
	open := func(directory string) *files.Real {
		tree, err := files.NewReal(directory)
		problems = append(problems, err)
		return tree
	}
	out.proc, out.sys, out.cgroup = open(options.Proc), open(options.Sys), open(options.Cgroup)
	err := errors.Join(problems...)
	if err != nil {
		out.close()
	}
	return out, err
}

func (t *trees) close() {
	for _, tree := range []*files.Real{t.proc, t.sys, t.cgroup} {
		if tree != nil {
			_ = tree.Close() // nothing was written
		}
	}
}
