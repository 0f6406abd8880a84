package manager

import (
	"context"
	"crypto/tls"
	"fmt"
	"os"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	controllerconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"koordinator.sh/koord/certificate"
	"koordinator.sh/koord/controllers/diagnostics"
	"koordinator.sh/koord/controllers/noderesource"
	"koordinator.sh/koord/controllers/protections"
	"koordinator.sh/koord/controllers/sloconfig"
	"koordinator.sh/koord/schedulerclient"
)

// Run runs koord-manager until ctx ends, and returns after questions and reconciliations in flight have finished. Losing
// the lease is an error: the process is to be started again.
func Run(ctx context.Context, options *Options) error {
	if err := options.Validate(); err != nil {
		return err
	}
	config, err := restConfig(options)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("create the client: %w", err)
	}
	if err := awaitAPIServer(ctx, client.Discovery().RESTClient(), options.HealthProbeBindAddress); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("create the client: %w", err)
	}
	serving := certificate.NewSecretProvider(client, options.ConfigNamespace, certificate.ManagerSecret)
	scheduler := certificate.NewSecretProvider(client, options.ConfigNamespace, certificate.SchedulerSecret)
	mgr, err := assemble(ctx, config, options, serving, schedulerBundle(options, scheduler))
	if err != nil {
		return err
	}
	publisher := &bundlePublisher{client: objects, bundle: serving.CurrentCABundle, clock: clock.RealClock{}, changed: make(chan struct{}, 1)}
	serving.OnChange(publisher.wake)
	others := []func(context.Context){publisher.run, func(ctx context.Context) { scheduler.Run(ctx, 1) }}
	if options.ManageCertificates {
		issuer := certificate.NewIssuer(client, options.ConfigNamespace)
		serving.OnChange(issuer.Wake)
		scheduler.OnChange(issuer.Wake)
		others = append(others, issuer.Run)
	}
	return runTogether(ctx, mgr.Start, others...)
}

// runTogether runs main, and the others for as long as main runs.
func runTogether(ctx context.Context, main func(context.Context) error, others ...func(context.Context)) error {
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	for _, other := range others {
		group.Go(func() { other(ctx) })
	}
	err := main(ctx)
	cancel()
	group.Wait()
	return err
}

// schedulerBundle returns the CA bundle of the scheduler: a file, read per request, or its Secret.
func schedulerBundle(options *Options, secret *certificate.SecretProvider) func() []byte {
	if options.SchedulerCAFile == "" {
		return secret.CurrentCABundle
	}
	return func() []byte {
		data, err := os.ReadFile(options.SchedulerCAFile)
		if err != nil {
			klog.Background().Error(err, "Failed to read the CA certificates for koord-scheduler")
			return nil
		}
		return data
	}
}

// syncTimeout is how long a controller waits for what it watches, in effect forever: where a kind is not served, or the roles of an
// older chart do not allow watching it, that controller waits and logs it, and the others do their work. Ending the process would end
// them too, and a restart would not help.
const syncTimeout = 365 * 24 * time.Hour

// assemble builds the manager with everything that depends on its caches.
func assemble(ctx context.Context, config *rest.Config, options *Options, serving *certificate.SecretProvider, verifyScheduler func() []byte) (ctrlmanager.Manager, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	lock, err := newLock(config, options.ConfigNamespace)
	if err != nil {
		return nil, err
	}
	configuration := sloconfig.Options{
		Store:     sloconfig.NewStore(),
		ConfigMap: types.NamespacedName{Namespace: options.ConfigNamespace, Name: options.SLOConfigName},
	}
	webhooks, err := webhookServer(config, options, serving)
	if err != nil {
		return nil, err
	}
	mgr, err := ctrlmanager.New(config, ctrlmanager.Options{
		Scheme:                              scheme,
		MapperProvider:                      newPatientMapper(ctx),
		NewCache:                            newCache(configuration),
		LeaderElection:                      options.LeaderElect,
		LeaderElectionResourceLockInterface: lock,
		LeaderElectionReleaseOnCancel:       true,
		Metrics:                             metricsOptions(options, serving),
		HealthProbeBindAddress:              options.HealthProbeBindAddress,
		WebhookServer:                       webhooks,
		Logger:                              klog.Background(),
		Controller:                          controllerconfig.Controller{CacheSyncTimeout: syncTimeout},
	})
	if err != nil {
		return nil, fmt.Errorf("create the manager: %w", err)
	}
	server := &diagnostics.Server{
		BindAddress: options.DiagnosticsBindAddress,
		Port:        options.DiagnosticsPort,
		Kubeconfig:  options.Kubeconfig,
		Certificate: serving,
		Identity:    lock.Identity(),
		Leader:      func() bool { return closed(mgr.Elected()) },
		Clock:       clock.RealClock{},
		Registerer:  metrics.Registry,
	}
	outlooks, err := addControllers(ctx, mgr, options, configuration, server)
	if err != nil {
		return nil, err
	}
	if err := addAdmission(ctx, mgr, options, serving, outlooks); err != nil {
		return nil, err
	}
	if err := protections.AddToManager(mgr, options.ConfigNamespace); err != nil {
		return nil, err
	}
	if err := addProfileController(mgr, options); err != nil {
		return nil, err
	}
	if err := addRecommender(ctx, mgr, options); err != nil {
		return nil, err
	}
	if err := addJobInsight(mgr, options); err != nil {
		return nil, err
	}
	asked, err := schedulerclient.New(config, options.SchedulerEndpoint, verifyScheduler)
	if err != nil {
		return nil, err
	}
	server.Pods, server.Placements, server.Quotas = asked, asked, asked
	if server.Agents, err = newNodeAgents(mgr, config, options); err != nil {
		return nil, err
	}
	return mgr, addServer(mgr, server)
}

// newNodeAgents asks node agents what the manager does not know.
func newNodeAgents(mgr ctrl.Manager, config *rest.Config, options *Options) (*diagnostics.NodeAgents, error) {
	client, err := diagnostics.NewAgentClient(config, mgr.GetAPIReader(), options.AgentHost)
	if err != nil {
		return nil, err
	}
	return &diagnostics.NodeAgents{Client: client, Reader: mgr.GetClient(), PodIndex: noderesource.PodNodeIndex, Clock: clock.RealClock{}}, nil
}

func addServer(mgr ctrl.Manager, server *diagnostics.Server) error {
	if err := mgr.Add(server); err != nil {
		return fmt.Errorf("add the diagnostics API: %w", err)
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("add the liveness check: %w", err)
	}
	if err := mgr.AddReadyzCheck("diagnostics", server.Ready); err != nil {
		return fmt.Errorf("add the readiness check: %w", err)
	}
	return nil
}

// closed is true for a channel that has been closed.
func closed(channel <-chan struct{}) bool {
	select {
	case <-channel:
		return true
	default:
		return false
	}
}

func metricsOptions(options *Options, serving *certificate.SecretProvider) metricsserver.Options {
	server := metricsserver.Options{BindAddress: options.MetricsBindAddress, SecureServing: options.MetricsSecure}
	if options.MetricsSecure {
		server.FilterProvider = filters.WithAuthenticationAndAuthorization
		server.TLSOpts = []func(*tls.Config){func(c *tls.Config) {
			c.GetCertificate = serving.GetCertificate
			c.MinVersion = tls.VersionTLS13
		}}
	}
	return server
}
