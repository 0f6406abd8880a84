package app

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"koordinator.sh/koord/descheduler/podcache"
	"koordinator.sh/koord/schedulerclient"
)

// environment is what the parts of koord-descheduler are built from.
type environment struct {
	// manager has the caches and clients of custom resources, and starts what is added to it.
	manager ctrl.Manager
	// client of Kubernetes, and informers of it, which the descheduler starts. Pods and nodes are cached here alone.
	client    kubernetes.Interface
	informers informers.SharedInformerFactory
	// dynamic has the kinds of Kubernetes that only later versions serve.
	dynamic dynamic.Interface
	// configured is the configuration in force.
	configured *configured
	// scheduler answers where pods would go; nil where it is not asked.
	scheduler *schedulerclient.Client
	// loops reports workloads that go in circles.
	loops *loopReporter
	// identity of this process.
	identity string
}

func newEnvironment(config *rest.Config, mgr ctrl.Manager, loaded *configured) (*environment, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("create the client: %w", err)
	}
	quiet := rest.CopyConfig(config) // an API server warns of the deprecation of an alpha API in each answer
	quiet.WarningHandler, quiet.WarningHandlerWithContext = nil, rest.NoWarnings{}
	objects, err := dynamic.NewForConfig(quiet)
	if err != nil {
		return nil, fmt.Errorf("create the dynamic client: %w", err)
	}
	loops, err := newLoopReporter(mgr.GetEventRecorder("koord-descheduler"), metrics.Registry)
	if err != nil {
		return nil, err
	}
	shared := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(podcache.NewTransform(loaded.current().ReadsNormalConditions())))
	return &environment{manager: mgr, client: client, dynamic: objects, informers: shared, configured: loaded, loops: loops, identity: string(uuid.NewUUID())}, nil
}

// part is one part of koord-descheduler. It adds controllers and runnables to the manager, which starts them on the leader, and those
// whose NeedLeaderElection is false on every replica.
type part struct {
	name string
	add  func(context.Context, *environment) error
}

// parts are all parts, in the order in which they are built. A new one is added by one entry.
var parts = []part{
	{"caches", addCaches},
	{"the configuration", addConfiguration},
	{"passes", addPasses},
	{"the arbitrator", addArbitrator},
	{"the migration controller", addMigration},
}

// assemble builds all parts, and reports all that cannot be built.
func assemble(ctx context.Context, e *environment) error {
	var errs []error
	for _, p := range parts {
		if err := p.add(ctx, e); err != nil {
			errs = append(errs, fmt.Errorf("add %s: %w", p.name, err))
		}
	}
	return errors.Join(errs...)
}
