package app

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	kubeapp "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubeconfig "k8s.io/kubernetes/cmd/kube-scheduler/app/config"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"

	"koordinator.sh/koord/scheduler/diagnostics"
	"koordinator.sh/koord/scheduler/frameworkext"
	"koordinator.sh/koord/scheduler/part"
	"koordinator.sh/koord/scheduler/recorder"
	"koordinator.sh/koord/scheduler/recovery"
)

// Scheduler is koord-scheduler, ready to run.
type Scheduler struct {
	config      *kubeconfig.CompletedConfig
	scheduler   *scheduler.Scheduler
	parts       part.Set
	created     *createdPlugins
	attempts    *recorder.Recorder
	diagnostics *diagnostics.Server
	// leads is true while this process is the leader, and always without leader election.
	leads func() bool
	// leaderWork is done on the leader only.
	leaderWork []func(context.Context)
}

// Setup builds the scheduler. Nothing runs, but the ports are open: a port that is taken is an error here.
func Setup(ctx context.Context, opts *Options) (*Scheduler, error) {
	completed, err := configure(ctx, opts)
	if err != nil {
		return nil, err
	}
	return Assemble(ctx, opts, completed)
}

// Assemble builds the scheduler from a complete configuration, from any source: clients and informers are those of the
// configuration, and of the options only the diagnostics server's count. It starts nothing and sends no request to the cluster.
func Assemble(ctx context.Context, opts *Options, completed *kubeconfig.CompletedConfig) (*Scheduler, error) {
	recovery.RegisterMetrics()
	lock := frameworkext.ObserveLock(completed)
	if err := frameworkext.Fence(completed, lock); err != nil {
		return nil, err
	}
	if err := trimNodes(completed.InformerFactory); err != nil {
		return nil, err
	}
	parts, err := connect(completed.KubeConfig, completed.InformerFactory)
	if err != nil {
		return nil, err
	}
	frameworkext.ShareInformers(completed, parts.Watches())
	profiles := copyProfiles(completed.ComponentConfig.Profiles)
	result := &Scheduler{config: completed, parts: parts, created: &createdPlugins{}, attempts: recorder.New(recorder.DefaultBounds(), time.Now)}
	if result.scheduler, err = result.build(ctx, opts); err != nil {
		return nil, err
	}
	var identity string
	identity, result.leads = identityOf(lock)
	engine, client, err := result.newEngine(ctx, profiles, identity)
	if err != nil {
		return nil, err
	}
	if result.leaderWork, err = leaderWork(completed, parts, profiles, result.leads); err != nil {
		return nil, err
	}
	answers, err := result.newAnswers(engine, client)
	if err != nil {
		return nil, err
	}
	result.leaderWork = append(result.leaderWork, answers)
	if opts.DiagnosticsPort != 0 {
		result.diagnostics, err = result.newDiagnostics(opts, engine, client)
	}
	return result, err
}

// configure is kube-scheduler's own configuration, except that the built-in default is ours, and that the kubeconfig of
// the scheduler also serves to authenticate and authorize its clients unless there is one for that.
func configure(ctx context.Context, opts *Options) (*kubeconfig.CompletedConfig, error) {
	defaults, err := DefaultConfiguration()
	if err != nil {
		return nil, err
	}
	opts.ComponentConfig = defaults
	if path := opts.Deprecated.Kubeconfig; path != "" {
		if opts.Authentication.RemoteKubeConfigFile == "" {
			opts.Authentication.RemoteKubeConfigFile = path
		}
		if opts.Authorization.RemoteKubeConfigFile == "" {
			opts.Authorization.RemoteKubeConfigFile = path
		}
	}
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	configured, err := opts.Config(ctx)
	if err != nil {
		return nil, err
	}
	completed := configured.Complete()
	return &completed, nil
}

func copyProfiles(profiles []config.KubeSchedulerProfile) []config.KubeSchedulerProfile {
	copied := make([]config.KubeSchedulerProfile, len(profiles))
	for i := range profiles {
		profiles[i].DeepCopyInto(&copied[i])
	}
	return copied
}

// build makes the scheduler with the same options as kube-scheduler's own main, and extends it.
func (s *Scheduler) build(ctx context.Context, opts *Options) (*scheduler.Scheduler, error) {
	completed, component := s.config, &s.config.ComponentConfig
	var finished []config.KubeSchedulerProfile
	built, err := scheduler.New(ctx, completed.Client, completed.InformerFactory, completed.DynInformerFactory,
		func(name string) events.EventRecorderLogger { return completed.EventBroadcaster.NewRecorder(name) },
		scheduler.WithComponentConfigVersion(component.APIVersion),
		scheduler.WithKubeConfig(completed.KubeConfig),
		scheduler.WithProfiles(component.Profiles...),
		scheduler.WithPercentageOfNodesToScore(component.PercentageOfNodesToScore),
		scheduler.WithFrameworkOutOfTreeRegistry(s.created.remembering(s.parts.Registry())),
		scheduler.WithPodMaxBackoffSeconds(component.PodMaxBackoffSeconds),
		scheduler.WithPodInitialBackoffSeconds(component.PodInitialBackoffSeconds),
		scheduler.WithPodMaxInUnschedulablePodsDuration(completed.PodMaxInUnschedulablePodsDuration),
		scheduler.WithExtenders(component.Extenders...),
		scheduler.WithParallelism(component.Parallelism),
		scheduler.WithBuildFrameworkCapturer(func(profile config.KubeSchedulerProfile) { finished = append(finished, profile) }),
	)
	if err != nil {
		return nil, fmt.Errorf("create the scheduler: %w", err)
	}
	if err := options.LogOrWriteConfig(klog.FromContext(ctx), opts.WriteConfigTo, component, finished); err != nil {
		return nil, fmt.Errorf("write the configuration: %w", err)
	}
	if err := frameworkext.Install(built, s.created.of, s.attempts, s.parts.Seams()); err != nil {
		return nil, err
	}
	return built, nil
}

func identityOf(lock *frameworkext.Lock) (string, func() bool) {
	if lock != nil {
		return lock.Identity(), lock.Leads
	}
	host, err := os.Hostname()
	if err != nil {
		host = "koord-scheduler"
	}
	return host, func() bool { return true }
}

// Run schedules until the context ends or the leadership is lost. As in kube-scheduler, both end the process when there
// is leader election.
func (s *Scheduler) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var beside sync.WaitGroup
	defer beside.Wait()
	defer cancel()
	beside.Go(func() { s.parts.Run(ctx) })
	for _, work := range s.leaderWork {
		beside.Go(func() { whileLeading(ctx, s.leads, work) })
	}
	if s.diagnostics != nil {
		beside.Go(func() {
			if err := s.diagnostics.Run(ctx); err != nil && ctx.Err() == nil {
				klog.FromContext(ctx).Error(err, "Diagnostics are not served")
			}
		})
	}
	s.parts.WaitSettled(ctx)
	return kubeapp.Run(ctx, s.config, s.scheduler)
}
