package app

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"

	"koordinator.sh/koord/scheduler/diagnostics"
	"koordinator.sh/koord/scheduler/explain"
	"koordinator.sh/koord/scheduler/scheduleexplanations"
	"koordinator.sh/koord/scheduler/services"
)

// newEngine makes what explains the scheduler's decisions, with a client that cannot write.
func (s *Scheduler) newEngine(ctx context.Context, profiles []config.KubeSchedulerProfile, identity string) (*explain.Engine, kubernetes.Interface, error) {
	client, err := kubernetes.NewForConfig(readOnly(s.config.KubeConfig))
	if err != nil {
		return nil, nil, fmt.Errorf("create a client for explanations: %w", err)
	}
	engine, err := explain.New(ctx, explain.Config{
		Client: client, Informers: s.config.InformerFactory, Cache: s.scheduler.Cache,
		Profiles: s.scheduler.Profiles, ProfileConfigs: profiles, Nominator: s.scheduler.SchedulingQueue,
		Parts: s.parts, Attempts: s.attempts,
		Identity: identity, Leader: s.leads, Now: time.Now,
	})
	return engine, client, err
}

// newDiagnostics makes the server that explains on request.
func (s *Scheduler) newDiagnostics(opts *Options, engine *explain.Engine, client kubernetes.Interface) (*diagnostics.Server, error) {
	namespace, name, err := opts.certSecret()
	if err != nil {
		return nil, err
	}
	core := s.config.InformerFactory.Core().V1()
	pods, nodes := core.Pods().Informer(), core.Nodes().Informer()
	ready := func() bool { return pods.HasSynced() && nodes.HasSynced() }
	return diagnostics.NewServer(diagnostics.Options{
		BindAddress: opts.DiagnosticsBindAddress, Port: opts.DiagnosticsPort, CertNamespace: namespace, CertName: name,
		Authentication: opts.Authentication, Authorization: opts.Authorization, Objects: s.parts.Explains(), Client: client,
		Services: services.NewHandler(services.Options{
			Providers: s.providers(s.scheduler.Profiles), Leads: s.leads, Ready: ready, Nodes: services.NewWorld(s.scheduler.Cache).Nodes,
		}),
	}, engine, ready)
}

// newAnswers makes the controller that fills in ScheduleExplanations.
func (s *Scheduler) newAnswers(engine *explain.Engine, client kubernetes.Interface) (func(context.Context), error) {
	core := s.config.InformerFactory.Core().V1()
	controller, err := scheduleexplanations.New(s.config.KubeConfig, scheduleexplanations.Options{
		Pods: core.Pods(), Nodes: core.Nodes(), Client: client, Explainer: engine,
		SystemNamespace: s.config.ComponentConfig.LeaderElection.ResourceNamespace,
		Changes:         s.parts.Changes,
	})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) {
		if err := controller.Run(ctx); err != nil && ctx.Err() == nil {
			klog.FromContext(ctx).Error(err, "ScheduleExplanations are not answered")
		}
	}, nil
}
