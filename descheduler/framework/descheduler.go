package framework

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	promapi "github.com/prometheus/client_golang/api"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	metricsclient "k8s.io/metrics/pkg/client/clientset/versioned"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/descheduler/pkg/framework/pluginregistry"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/loopguard"
	"koordinator.sh/koord/descheduler/configuration"
	"koordinator.sh/koord/descheduler/podcache"
)

// defaultJobTTL of jobs of profiles without a Migrator is that of upstream.
const defaultJobTTL = 5 * time.Minute

// Config of a Descheduler.
type Config struct {
	// Client of Kubernetes.
	Client kubernetes.Interface
	// Informers of Client; New makes them when nil. It starts them in either case.
	Informers informers.SharedInformerFactory
	// Jobs reads and writes PodMigrationJobs, from a cache where there is one. LiveJobs reads them past the cache; Jobs when nil.
	Jobs     client.Client
	LiveJobs client.Reader
	// Registry of all plugins.
	Registry pluginregistry.Registry
	// Configuration to begin with.
	Configuration *configuration.Configuration
	// Identity of this process, which its jobs are annotated with.
	Identity string
	// Evictions that no PodMigrationJob made, such as those by the agents; nil for none.
	Evictions func(ctx context.Context, jobs []schedulingv1alpha1.PodMigrationJob) ([]loopguard.Move, error)
	// Stopped takes the workloads that a pass does not move because they go in circles; nil for none.
	Stopped func(ctx context.Context, loops []loopguard.Loop)
	// Metrics is the client of metrics.k8s.io; nil when there is none.
	Metrics metricsclient.Interface
	// Prometheus returns the client of Prometheus; nil when there is none.
	Prometheus func() promapi.Client
	// Registerer of metrics; nil for none.
	Registerer prometheus.Registerer
	// Clock of records; the real one when nil.
	Clock clock.PassiveClock
}

// Descheduler runs plugins in passes. It is safe for concurrent use.
type Descheduler struct {
	config  Config
	metrics *instruments
	usage   *usage
	history history
	// pods of the cluster, by their nodes.
	pods cache.Indexer

	// pass is the state of the pass that runs; nil between passes. passing admits one at a time.
	pass    atomic.Pointer[ledger]
	passing sync.Mutex

	// current is the configuration in force; changed wakes Run after a change.
	current atomic.Pointer[inForce]
	changed chan struct{}
	// stop ends the informers, those of plugins included that are built later.
	stop <-chan struct{}
}

// inForce is a configuration with its profiles built.
type inForce struct {
	*configuration.Configuration
	profiles []*profile
}

// New builds the plugins, and starts the informers and waits until they are synced. They end with the context.
func New(ctx context.Context, config Config) (*Descheduler, error) {
	if config.Client == nil || config.Jobs == nil || config.Configuration == nil {
		return nil, errors.New("new descheduler: it needs clients and a configuration")
	}
	if config.Informers == nil {
		transform := podcache.NewTransform(config.Configuration.ReadsNormalConditions())
		config.Informers = informers.NewSharedInformerFactoryWithOptions(config.Client, 0, informers.WithTransform(transform))
	}
	if config.LiveJobs == nil {
		config.LiveJobs = config.Jobs
	}
	if config.Clock == nil {
		config.Clock = clock.RealClock{}
	}
	d := &Descheduler{config: config, changed: make(chan struct{}, 1), stop: ctx.Done()}
	d.usage = &usage{descheduler: d}
	var err error
	if d.metrics, err = newInstruments(config.Registerer); err != nil {
		return nil, err
	}
	// Plugins ask for listers in the middle of a pass, when it is too late to start their informers.
	core := config.Informers.Core().V1()
	core.Nodes().Informer()
	core.Namespaces().Informer()
	core.PersistentVolumeClaims().Informer()
	config.Informers.Policy().V1().PodDisruptionBudgets().Informer()
	pods := core.Pods().Informer()
	if err := indexPods(pods); err != nil {
		return nil, err
	}
	d.pods = pods.GetIndexer()
	if err := d.SetConfiguration(ctx, config.Configuration); err != nil {
		return nil, err
	}
	return d, nil
}

// SetConfiguration builds the plugins of a configuration and puts it in force from the next pass on. When one of them cannot be built, the
// configuration before stays in force.
func (d *Descheduler) SetConfiguration(ctx context.Context, next *configuration.Configuration) error {
	built := &inForce{Configuration: next}
	var problems []error
	for i := range next.Profiles {
		profile, err := d.build(ctx, i, &next.Profiles[i], next.DryRun)
		problems = append(problems, err)
		built.profiles = append(built.profiles, profile)
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	d.config.Informers.Start(d.stop)
	for kind, synced := range d.config.Informers.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return fmt.Errorf("wait for the cache of %v: %w", kind, context.Cause(ctx))
		}
	}
	d.current.Store(built)
	select {
	case d.changed <- struct{}{}:
	default: // a wake-up is waiting already
	}
	return nil
}
