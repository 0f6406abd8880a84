package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	descheduler "koordinator.sh/koord/api/descheduler/v1alpha2"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// Environment is what the parts of koord-descheduler are built from.
type Environment struct {
	// Manager has the caches and clients, and starts what is added to it.
	Manager ctrl.Manager
	// Configuration as read at startup, and the file that it comes from.
	Configuration *descheduler.DeschedulerConfiguration
	ConfigFile    string
	// DryRun evicts nothing, whatever the configuration says.
	DryRun bool
	// Handle serves a path of the secured port, to clients that are authenticated and authorized for it.
	Handle func(path string, handler http.Handler)
}

// part is one part of koord-descheduler. It adds controllers and runnables to the manager, which starts them on the leader, and those
// whose NeedLeaderElection is false on every replica.
type part struct {
	name string
	add  func(context.Context, *Environment) error
}

// parts are all parts, in the order in which they are built. A new one is added by one entry.
var parts = []part{
	{"caches", addCaches},
}

// assemble builds all parts, and reports all that cannot be built.
func assemble(ctx context.Context, environment *Environment) error {
	var errs []error
	for _, p := range parts {
		if err := p.add(ctx, environment); err != nil {
			errs = append(errs, fmt.Errorf("add %s: %w", p.name, err))
		}
	}
	return errors.Join(errs...)
}

// addCaches fills the caches of a standby, so that it takes over without reading the cluster first.
func addCaches(_ context.Context, environment *Environment) error {
	return environment.Manager.Add(warmCaches{environment.Manager.GetCache()})
}

type warmCaches struct{ cache cache.Cache }

// NeedLeaderElection is false.
func (warmCaches) NeedLeaderElection() bool { return false }

// Start asks for the caches; they live as long as the manager.
func (w warmCaches) Start(ctx context.Context) error {
	for _, object := range []client.Object{&slov1alpha1.NodeMetric{}, &schedulingv1alpha1.PodMigrationJob{}, &schedulingv1alpha1.Reservation{}} {
		if _, err := w.cache.GetInformer(ctx, object, cache.BlockUntilSynced(false)); err != nil && ctx.Err() == nil {
			return fmt.Errorf("watch %T: %w", object, err)
		}
	}
	return nil
}
