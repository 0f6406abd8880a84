package framework

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	frameworktypes "sigs.k8s.io/descheduler/pkg/framework/types"
)

// minNodes are the ready nodes that a pass needs: with one, pods have nowhere else to go.
const minNodes = 2

// singlePassTimeout bounds a pass that no other follows. Others end when the next is due.
const singlePassTimeout = 10 * time.Minute

// minPassTimeout lets a pass over a large cluster end where the interval is short.
const minPassTimeout = time.Minute

// Run makes passes until the context ends, one after each interval; one only when the interval is 0.
func (d *Descheduler) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var background sync.WaitGroup
	background.Go(func() { d.usage.run(ctx) })
	defer background.Wait()
	defer cancel()
	for {
		start := d.config.Clock.Now()
		_, err := d.RunOnce(ctx)
		if d.current.Load().Interval == 0 {
			return err
		}
		if err != nil {
			klog.FromContext(ctx).Error(err, "the pass failed")
		}
		if !d.rest(ctx, start) {
			return nil
		}
	}
}

// rest waits until the next pass is due, by the interval in force; false when the context ended.
func (d *Descheduler) rest(ctx context.Context, start time.Time) bool {
	for {
		due := time.NewTimer(d.current.Load().Interval - d.config.Clock.Since(start))
		select {
		case <-ctx.Done():
			due.Stop()
			return false
		case <-due.C:
			return true
		case <-d.changed:
			due.Stop()
		}
	}
}

// RunOnce makes one pass and returns its record. Plugins that fail are in the record; an error is one that ended the pass.
func (d *Descheduler) RunOnce(ctx context.Context) (Pass, error) {
	d.passing.Lock()
	defer d.passing.Unlock()
	current := d.current.Load()
	ctx, cancel := context.WithTimeout(ctx, passTimeout(current.Interval))
	defer cancel()
	record := Pass{Start: d.config.Clock.Now(), DryRun: current.DryRun}
	err := d.run(ctx, current, &record)
	if err != nil {
		record.Error = err.Error()
	}
	end := d.config.Clock.Now()
	record.Duration = end.Sub(record.Start)
	d.metrics.passed(&record, end)
	d.history.add(record)
	return record, err
}

func passTimeout(interval time.Duration) time.Duration {
	if interval == 0 {
		return singlePassTimeout
	}
	return max(interval, minPassTimeout)
}

// run fills in the record of a pass.
func (d *Descheduler) run(ctx context.Context, current *inForce, record *Pass) error {
	nodes, err := d.readyNodes(current.Nodes)
	if err != nil {
		return err
	}
	record.Nodes = len(nodes)
	if len(nodes) < minNodes {
		record.Skipped = fmt.Sprintf("%d ready nodes are selected, and a pass needs at least %d", len(nodes), minNodes)
		klog.FromContext(ctx).Info("skip the pass", "why", record.Skipped)
		return nil
	}
	jobs, err := listJobs(ctx, d.config.Jobs)
	if err != nil {
		return err
	}
	circles, err := d.circles(ctx, current.HistoryWindow(), record.Start, jobs)
	if err != nil {
		return err
	}
	record.Stopped = circles.guard.Loops()
	if d.config.Stopped != nil {
		d.config.Stopped(ctx, record.Stopped)
	}
	d.usage.prepare(ctx, usesMetrics(current.Configuration), current.Nodes)
	pass := newLedger(d.nameOf(record.Start), current.Limits, current.DryRun, jobs, circles)
	record.LeavingAtStart = len(pass.jobs) + len(pass.byName)
	d.pass.Store(pass)
	defer d.pass.Store(nil)
	d.runPlugins(ctx, current, nodes, record)
	record.Evictions, record.OmittedEvictions = pass.recorded()
	return nil
}

// nameOf a pass that started at a time, different from those of other processes.
func (d *Descheduler) nameOf(start time.Time) string {
	return strings.Trim(d.config.Identity+"-"+strconv.FormatInt(start.UnixMilli(), 10), "-")
}

// runPlugins runs the Deschedule plugins of all profiles, then the Balance plugins of all, so that what has to leave anyway is not counted
// as load to spread.
func (d *Descheduler) runPlugins(ctx context.Context, current *inForce, nodes []*corev1.Node, record *Pass) {
	for _, profile := range current.profiles {
		for _, one := range profile.deschedule {
			call := one.Plugin.(frameworktypes.DeschedulePlugin).Deschedule
			record.Plugins = append(record.Plugins, d.runPlugin(ctx, one, frameworktypes.DescheduleExtensionPoint, selected(nodes, profile.nodes), call))
		}
	}
	for _, profile := range current.profiles {
		for _, one := range profile.balance {
			call := one.Plugin.(frameworktypes.BalancePlugin).Balance
			record.Plugins = append(record.Plugins, d.runPlugin(ctx, one, frameworktypes.BalanceExtensionPoint, selected(nodes, profile.nodes), call))
		}
	}
}

// runPlugin runs one plugin. Its error and its panic end its own part only.
func (d *Descheduler) runPlugin(
	ctx context.Context, one *instance, point frameworktypes.ExtensionPoint, nodes []*corev1.Node,
	call func(context.Context, []*corev1.Node) *frameworktypes.Status,
) PluginRun {
	run := PluginRun{Profile: one.profile.name, Plugin: one.Name(), ExtensionPoint: string(point), Nodes: len(nodes), Refused: map[string]int{}}
	if err := ctx.Err(); err != nil {
		run.Error = "not run: " + err.Error()
		return run
	}
	if len(nodes) == 0 {
		return run
	}
	start := d.config.Clock.Now()
	one.evictor.begin(&run)
	if err := callPlugin(ctx, nodes, call); err != nil {
		klog.FromContext(ctx).Error(err, "the plugin failed", "plugin", run.Plugin, "profile", run.Profile)
		run.Error = err.Error()
	}
	one.evictor.begin(nil)
	run.Duration = d.config.Clock.Since(start)
	d.metrics.ran(&run)
	return run
}

// callPlugin turns a panic into an error.
func callPlugin(ctx context.Context, nodes []*corev1.Node, call func(context.Context, []*corev1.Node) *frameworktypes.Status) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			klog.FromContext(ctx).Error(nil, "plugin panics", "panic", cause, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", cause)
		}
	}()
	if status := call(ctx, nodes); status != nil {
		return status.Err
	}
	return nil
}

// outcome is the result of the pass in one word.
func (p *Pass) outcome() string {
	switch {
	case p.Error != "":
		return "error"
	case p.Skipped != "":
		return "skipped"
	case slices.ContainsFunc(p.Plugins, func(run PluginRun) bool { return run.Error != "" }):
		return "incomplete"
	}
	return "completed"
}
