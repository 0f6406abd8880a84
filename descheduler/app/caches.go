package app

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// addCaches fills the caches of a standby, so that it takes over without reading the cluster first.
func addCaches(_ context.Context, e *environment) error {
	return e.manager.Add(warmCaches{e})
}

type warmCaches struct{ *environment }

// NeedLeaderElection is false.
func (warmCaches) NeedLeaderElection() bool { return false }

// Start asks for the caches; they live as long as the manager.
func (w warmCaches) Start(ctx context.Context) error {
	w.informers.Core().V1().Pods().Informer()
	w.informers.Core().V1().Nodes().Informer()
	w.informers.Start(ctx.Done())
	for _, object := range []client.Object{&slov1alpha1.NodeMetric{}, &slov1alpha1.NodeSLO{}, &schedulingv1alpha1.PodMigrationJob{}, &schedulingv1alpha1.Reservation{}} {
		if _, err := w.manager.GetCache().GetInformer(ctx, object, cache.BlockUntilSynced(false)); err != nil && ctx.Err() == nil {
			return fmt.Errorf("watch %T: %w", object, err)
		}
	}
	<-ctx.Done()
	w.informers.Shutdown()
	return nil
}

// addConfiguration follows changes of the configuration, on a standby, too.
func addConfiguration(_ context.Context, e *environment) error {
	return e.manager.Add(followed{e.configured})
}

type followed struct{ *configured }

// NeedLeaderElection is false.
func (followed) NeedLeaderElection() bool { return false }

// Start reads the file again and again until ctx ends.
func (f followed) Start(ctx context.Context) error {
	f.store.Run(ctx)
	return nil
}
