package noderesource

import (
	"context"
	"fmt"

	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/controllers/sloconfig"
)

// observer lets a standby learn what pods use, so that it predicts as well as the leader when it takes over.
type observer struct {
	cache       cache.Cache
	reader      client.Reader
	config      *sloconfig.Store
	clock       clock.PassiveClock
	predictions *Predictions
	elected     <-chan struct{}
}

func newObserver(mgr ctrl.Manager, o *Options) *observer {
	return &observer{mgr.GetCache(), mgr.GetClient(), o.Config, o.Clock, o.Predictions, mgr.Elected()}
}

// NeedLeaderElection is false.
func (*observer) NeedLeaderElection() bool { return false }

// Start observes every measurement until ctx ends or this replica leads: from then on the controller does.
func (o *observer) Start(ctx context.Context) error {
	informer, err := o.cache.GetInformer(ctx, &slov1alpha1.NodeMetric{}, cache.BlockUntilSynced(false))
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("watch node metrics: %w", err)
	}
	registration, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { o.observe(ctx, object) },
		UpdateFunc: func(_, object any) { o.observe(ctx, object) },
		DeleteFunc: o.forget,
	})
	if err != nil {
		return fmt.Errorf("watch node metrics: %w", err)
	}
	select {
	case <-ctx.Done():
	case <-o.elected:
	}
	if err := informer.RemoveEventHandler(registration); err != nil {
		return fmt.Errorf("stop watching node metrics: %w", err)
	}
	return nil
}

func (o *observer) observe(ctx context.Context, object any) {
	metric, ok := object.(*slov1alpha1.NodeMetric)
	config, loaded := o.config.Config()
	if !ok || !loaded {
		return
	}
	in, err := read(ctx, o.reader, metric.Name)
	if err != nil {
		return // a node that is not there yet is observed with its next report
	}
	in.Strategy, in.Now = config.Colocation(in.Node), o.clock.Now()
	o.predictions.Of(in)
}

func (o *observer) forget(object any) {
	if gone, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	if metric, ok := object.(*slov1alpha1.NodeMetric); ok {
		o.predictions.Forget(metric.Name)
	}
}
