package manager

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/controllers/diagnostics"
	"koordinator.sh/koord/controllers/elasticworkers"
	"koordinator.sh/koord/controllers/nodemetric"
	"koordinator.sh/koord/controllers/nodeobject"
	"koordinator.sh/koord/controllers/noderesource"
	"koordinator.sh/koord/controllers/nodeslo"
	"koordinator.sh/koord/controllers/quotaprofile"
	"koordinator.sh/koord/controllers/sloconfig"
)

// addControllers adds the controllers, and who answers questions about nodes to the server. It returns who answers them from the cache alone,
// as often as for all nodes.
func addControllers(ctx context.Context, mgr ctrl.Manager, options *Options, configuration sloconfig.Options, server *diagnostics.Server) (*noderesource.Explainer, error) {
	store, predictions := configuration.Store, noderesource.NewPredictions()
	outlooks := noderesource.NewExplainer(mgr.GetClient(), store, clock.RealClock{}, configuration.Name()).WithPredictions(predictions)
	adders := []struct {
		name string
		add  func() error
	}{
		{"sloconfig", func() error { return sloconfig.AddToManager(mgr, configuration) }},
		{"nodemetric", func() error {
			return nodeobject.AddToManager(mgr, nodemetric.Kind(), nodeobject.Options{Config: store})
		}},
		{"nodeslo", func() error { return nodeobject.AddToManager(mgr, nodeslo.Kind(), nodeobject.Options{Config: store}) }},
		{"noderesource", func() error {
			return noderesource.AddToManager(ctx, mgr, noderesource.Options{Config: store, SharedGPU: options.SharedGPU, Predictions: predictions})
		}},
		{"quotaprofile", func() error { return quotaprofile.AddToManager(mgr) }},
		{"elasticworkers", func() error {
			if !options.ElasticWorkers {
				return nil
			}
			return elasticworkers.AddToManager(ctx, mgr, outlooks)
		}},
		{"warm caches", func() error { return mgr.Add(warmCaches{mgr.GetCache()}) }},
	}
	for _, adder := range adders {
		if err := adder.add(); err != nil {
			return nil, fmt.Errorf("add %s: %w", adder.name, err)
		}
	}
	explainer := noderesource.NewExplainer(mgr.GetClient(), store, clock.RealClock{}, configuration.Name())
	server.Nodes = explainer.WithPredictions(predictions).WithDevices(mgr.GetAPIReader()).WithExtensions(mgr.GetAPIReader(), options.SharedGPU)
	server.Overviews = &noderesource.Overviewer{
		Reader: mgr.GetClient(), Informers: mgr.GetCache(), Settings: mgr.GetAPIReader(), Namespace: options.ConfigNamespace, Config: store, Clock: clock.RealClock{},
	}
	return outlooks, nil
}

// warmCaches fills the caches of a standby, whose controllers do not run: it answers questions from them at once, and
// takes over without reading the cluster first.
type warmCaches struct{ cache cache.Cache }

// NeedLeaderElection is false.
func (warmCaches) NeedLeaderElection() bool { return false }

// Start asks for the caches; they live as long as the manager.
func (w warmCaches) Start(ctx context.Context) error {
	for _, object := range []client.Object{&corev1.Node{}, &corev1.Pod{}, &slov1alpha1.NodeMetric{}} {
		if _, err := w.cache.GetInformer(ctx, object, cache.BlockUntilSynced(false)); err != nil && ctx.Err() == nil {
			return fmt.Errorf("watch %T: %w", object, err)
		}
	}
	return nil
}
