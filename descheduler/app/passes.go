package app

import (
	"context"
	"fmt"
	"time"

	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"koordinator.sh/koord/api/configuration"
	decision "koordinator.sh/koord/decision/descheduling/lownodeload"
	"koordinator.sh/koord/descheduler/framework"
	"koordinator.sh/koord/descheduler/nodemetrics"
	"koordinator.sh/koord/descheduler/plugins"
	"koordinator.sh/koord/descheduler/plugins/lownodeload"
	"koordinator.sh/koord/descheduler/plugins/rebalance"
)

// HistoryConfigMap is the ConfigMap in which LowNodeLoad keeps how often nodes were overutilized, in the system namespace.
const HistoryConfigMap = decision.HistoryConfigMap

// addPasses runs the plugins on the leader.
func addPasses(_ context.Context, e *environment) error {
	planning, err := newPlanning(metrics.Registry)
	if err != nil {
		return err
	}
	// A standby remembers evictions, too.
	evicted := &rebalance.EvictionLog{Client: e.manager.GetClient()}
	if _, err := e.informers.Core().V1().Pods().Informer().AddEventHandler(evicted.Handler()); err != nil {
		return fmt.Errorf("observe evictions: %w", err)
	}
	return e.manager.Add(manager.RunnableFunc(func(ctx context.Context) error { return e.runPasses(ctx, e.sources(planning, evicted), evicted) }))
}

// runPasses makes passes until ctx ends.
func (e *environment) runPasses(ctx context.Context, sources plugins.Sources, evicted *rebalance.EvictionLog) error {
	current := e.configured.current()
	descheduler, err := framework.New(ctx, framework.Config{
		Client: e.client, Informers: e.informers, Jobs: e.manager.GetClient(), LiveJobs: e.manager.GetAPIReader(),
		Registry: plugins.Registry(sources), Configuration: current, Identity: e.identity, Registerer: metrics.Registry,
		Evictions: evicted.Moves, Stopped: e.loops.from(everyPlugin),
	})
	if err != nil {
		return fmt.Errorf("build the plugins: %w", err)
	}
	apply := descheduler.SetConfiguration
	e.configured.apply.Store(&apply)
	defer e.configured.apply.Store(nil)
	if changed := e.configured.current(); changed != current {
		if err := apply(ctx, changed); err != nil { // as a change that comes later
			klog.FromContext(ctx).Error(err, "Failed to apply the configuration, the one before stays in force")
		}
	}
	return descheduler.Run(ctx)
}

// sources of the plugins of the project.
func (e *environment) sources(planning *planning, evicted *rebalance.EvictionLog) plugins.Sources {
	reports := nodemetrics.Reports{Cache: e.manager.GetCache()}
	planned := rebalance.Sources{
		NodeMetrics: reports, Scheduler: e.schedulerArgs, Evictions: evicted.Moves, Report: planning.report, Stopped: e.loops.from(planner),
		Recorder: e.loops.recorder,
	}
	if e.scheduler != nil {
		planned.Review = reviewing{e.scheduler, planning.reviews}.ReviewPlacements
	}
	return plugins.Sources{Rebalance: planned, LowNodeLoad: lownodeload.Sources{
		NodeMetrics: reports,
		Store: &lownodeload.ConfigMapStore{
			Client: e.client, Namespace: configuration.DefaultNamespace, Name: HistoryConfigMap,
		},
		Interval: func() time.Duration { return e.configured.store.Current().Interval },
	}}
}
