package koordlet

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/vishvananda/netlink"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/checkpoint"
	"koordinator.sh/koord/agent/host/cgroup"
	hostcoresched "koordinator.sh/koord/agent/host/coresched"
	"koordinator.sh/koord/agent/host/perf"
	hostresctrl "koordinator.sh/koord/agent/host/resctrl"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/agent/qos/coresched"
	"koordinator.sh/koord/agent/qos/interference"
	"koordinator.sh/koord/agent/qos/network"
	"koordinator.sh/koord/agent/qos/resctrl"
	"koordinator.sh/koord/agent/qos/terway"
	"koordinator.sh/koord/api/finding"
	decision "koordinator.sh/koord/decision/nodeqos/interference"
	"koordinator.sh/koord/decision/nodeqos/suppression"
)

// Gates of the features that set what no cgroup has, beside those that set cgroup values as well.
const (
	gateResctrl      = "RdtResctrl"
	gatePodResctrl   = "Resctrl"
	gateCounters     = "ResctrlCollector"
	gateTerway       = "TerwayQoS"
	gateCPI          = "CPICollector"
	gateInterference = "PSICollector"
)

// reconcilerGates are the gates of reconcilers that set no cgroup values. Only shares of the cache for classes are on by default: they do nothing
// until a class has some.
func reconcilerGates() []string {
	return []string{gateResctrl, gatePodResctrl, gateCounters, gateTerway, gateCPI, gateInterference}
}

// reconcilers are the features that set what no cgroup has; nil ones have but a name.
type reconcilers struct {
	resctrl      *resctrl.Reconciler
	coresched    *coresched.Reconciler
	network      *network.Reconciler
	terway       *terway.Reconciler
	interference *interference.Reconciler

	// on are those that work; off those that only give back, once, what an earlier agent left.
	on, off []qos.Reconciler
	// errors is the failure of each that was logged last. They look at things now and then only, and succeed in between.
	errors   map[string]*errorLog
	readOnly bool
}

// newReconcilers makes all of them, because one that is off may have something to give back.
func newReconcilers(options *Options, trees *trees, layout cgroup.Layout, log *audit.Log) (*reconcilers, error) {
	store := func(name string) checkpoint.File {
		return checkpoint.File{Path: filepath.Join(options.StateDirectory, name+".json")}
	}
	on := func(gate string, byDefault bool) bool {
		enabled, named := options.FeatureGates[gate]
		return enabled || !named && byDefault
	}
	out := &reconcilers{errors: map[string]*errorLog{}, readOnly: options.ReadOnly}
	classes, pods, counters := on(gateResctrl, true), on(gatePodResctrl, false), on(gateCounters, false)
	var problems [4]error
	out.resctrl, problems[0] = orEmpty(resctrl.New(resctrl.Options{
		Classes: classes, Pods: pods, Counters: counters, Proc: trees.proc, Originals: store("resctrl"), Audit: log, Clock: options.Clock,
		Open: func() (hostresctrl.Tree, error) { return hostresctrl.Open(filepath.Join(options.Sys, "fs", "resctrl")) },
	}))
	out.coresched, problems[1] = orEmpty(coresched.New(coresched.Options{
		Kernel: hostcoresched.Real{Proc: trees.proc}, Proc: trees.proc, Cookies: store("coresched"), Audit: log, Clock: options.Clock,
	}))
	out.network, problems[2] = orEmpty(network.New(network.Options{
		Control: &netlink.Handle{}, Proc: trees.proc, Sys: trees.sys, Device: store("network"), Audit: log, Clock: options.Clock,
	}))
	out.terway, problems[3] = orEmpty(terway.New(terway.Options{
		Directory: terway.Directory, CgroupRoot: options.Cgroup, Originals: store("terway"), Audit: log, Clock: options.Clock,
	}))
	cpi, pressure := on(gateCPI, false), on(gateInterference, false)
	var err error
	out.interference, err = interference.New(interference.Options{
		CPI: cpi, Pressure: pressure, Kernel: perf.Real{Root: perfCgroupRoot(options, layout)}, Limits: decision.DefaultLimits(),
	})
	if err != nil {
		return nil, err
	}
	out.add(out.resctrl, problems[0], classes || pods || counters)
	out.add(out.coresched, problems[1], on(out.coresched.Name(), false))
	out.add(out.network, problems[2], on(out.network.Name(), false))
	out.add(out.terway, problems[3], on(gateTerway, false))
	out.add(out.interference, nil, cpi || pressure)
	return out, nil
}

// orEmpty replaces a reconciler that cannot be made by an empty one, which must not run.
func orEmpty[T any](made *T, err error) (*T, error) {
	if err != nil {
		return new(T), finding.Wrap(err, finding.OriginalsDamaged, "put the file back as it was and restart the agent; or drain and restart the node and remove the file")
	}
	return made, nil
}

// add a reconciler that works, or one that is off and only restores. One with a problem does neither and reports it; the agent goes on.
func (k *reconcilers) add(reconciler qos.Reconciler, problem error, works bool) {
	if problem != nil {
		reconciler = unrestorable{reconciler, problem}
	}
	if works {
		k.on = append(k.on, reconciler)
	} else {
		k.off = append(k.off, reconciler)
	}
}

// unrestorable is a reconciler whose stored state cannot be read: it sets nothing and restores nothing.
type unrestorable struct {
	qos.Reconciler
	err error
}

// Reconcile implements qos.Keeper.
func (d unrestorable) Reconcile(context.Context, qos.NodeSnapshot) error { return d.err }

// Restore implements qos.Keeper.
func (d unrestorable) Restore(context.Context) error { return d.err }

// perfCgroupRoot is where the cgroups are that performance counters know.
func perfCgroupRoot(options *Options, layout cgroup.Layout) string {
	if layout.Version == cgroup.V2 {
		return options.Cgroup
	}
	return filepath.Join(options.Cgroup, "perf_event")
}

// reconcile runs each of them with a snapshot. Failures are passed to failed, logged when they are new, and retried.
func (k *reconcilers) reconcile(ctx context.Context, in qos.NodeSnapshot, failed func(reconciler string, err error, at time.Time)) {
	pending := k.off
	k.off = nil
	for _, reconciler := range pending {
		if err := reconciler.Restore(ctx); err != nil {
			k.off = append(k.off, reconciler)
			k.reportError(ctx, reconciler, err, in.Now)
		}
	}
	for _, reconciler := range k.on {
		if err := reconciler.Reconcile(ctx, in); err != nil {
			failed(reconciler.Name(), err, in.Now)
			k.reportError(ctx, reconciler, err, in.Now)
		}
	}
}

func (k *reconcilers) reportError(ctx context.Context, reconciler qos.Reconciler, err error, now time.Time) {
	if k.errors[reconciler.Name()] == nil {
		k.errors[reconciler.Name()] = &errorLog{}
	}
	k.errors[reconciler.Name()].Report(ctx, err, now, "a feature could not apply all its values, retrying", "feature", reconciler.Name())
}

// relief is what best effort gives up because services are disturbed.
func (k *reconcilers) relief() suppression.Relief { return k.interference.Relief() }

// restore gives everything back; an agent that writes nothing leaves what an earlier one set.
func (k *reconcilers) restore(ctx context.Context) error {
	if k.readOnly {
		return nil
	}
	var problems []error
	for _, reconciler := range slices.Concat(k.on, k.off) {
		if err := reconciler.Restore(ctx); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", reconciler.Name(), err))
		}
	}
	return errors.Join(problems...)
}
