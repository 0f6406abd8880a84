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
	"koordinator.sh/koord/descheduler/plugins"
	"koordinator.sh/koord/descheduler/plugins/lownodeload"
	"koordinator.sh/koord/descheduler/plugins/rebalance"
)

// HistoryConfigMap is the ConfigMap in which LowNodeLoad keeps how often nodes were overutilized, in the system namespace.
const HistoryConfigMap = decision.HistoryConfigMap

// addPasses runs the plugins on the leader.
func addPasses(_ context.Context, e *environment) error {
	return e.manager.Add(manager.RunnableFunc(e.runPasses))
}

// runPasses makes passes until ctx ends.
func (e *environment) runPasses(ctx context.Context) error {
	current := e.configured.current()
	descheduler, err := framework.New(ctx, framework.Config{
		Client: e.client, Informers: e.informers, Jobs: e.manager.GetClient(), LiveJobs: e.manager.GetAPIReader(),
		Registry: plugins.Registry(e.sources()), Configuration: current, Identity: e.identity, Registerer: metrics.Registry,
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
func (e *environment) sources() plugins.Sources {
	return plugins.Sources{Rebalance: rebalance.Sources{Stopped: e.loops.stopped}, LowNodeLoad: lownodeload.Sources{
		NodeMetrics: lownodeload.ClientNodeMetrics{Reader: e.manager.GetClient()},
		Store: &lownodeload.ConfigMapStore{
			Client: e.client, Namespace: configuration.DefaultNamespace, Name: HistoryConfigMap,
		},
		Interval: func() time.Duration { return e.configured.store.Current().Interval },
	}}
}
