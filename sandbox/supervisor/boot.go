package supervisor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/sandbox/cluster"
	"koordinator.sh/koord/sandbox/component"
	"koordinator.sh/koord/sandbox/pki"
	"koordinator.sh/koord/sandbox/realnode"
	"koordinator.sh/koord/sandbox/state"
)

// Bounds on how long a step of the start may take.
const (
	componentTimeout = 2 * time.Minute
	clusterTimeout   = 5 * time.Minute
)

// boot brings a sandbox up in order and takes it down in reverse.
type boot struct {
	*Supervisor
	spawner    *spawner
	plan       component.Plan
	components map[string]component.Component
	// private starts the processes of a real node, and leaveNode ends it; nil and idle where there is none.
	private   *spawner
	leaveNode func()
	// joined is when kubelet was started.
	joined time.Time

	mu      sync.Mutex
	started []running
}

// running is a component's runner and how to end it.
type running struct {
	cancel context.CancelFunc
	done   chan struct{}
}

func newBoot(s *Supervisor, spawner *spawner) *boot {
	return &boot{Supervisor: s, spawner: spawner, components: map[string]component.Component{}, leaveNode: func() {}}
}

func (b *boot) run(ctx context.Context) error {
	if err := b.step(ctx, "certificates and configuration", b.prepare); err != nil {
		return err
	}
	for _, name := range []string{component.Etcd, component.APIServer} {
		if err := b.startAndWait(ctx, name); err != nil {
			return err
		}
	}
	b.start(ctx, component.ControllerManager)
	admin, err := cluster.Connect(b.dir.Kubeconfig())
	if err != nil {
		return err
	}
	if b.spec.KubernetesOnly {
		return b.runKubernetesOnly(ctx, admin)
	}
	return b.runSystem(ctx, admin)
}

// prepare makes everything the components need on disk.
func (b *boot) prepare(ctx context.Context, _ func(string)) error {
	if err := b.dir.CheckSpace(); err != nil {
		return finding.Wrap(err, finding.SandboxDiskFull, "free disk space, or set "+state.HomeVariable+" to a directory on another disk")
	}
	ports, err := b.ensurePorts()
	if err != nil {
		return err
	}
	bundle, err := pki.Ensure(b.dir, time.Now)
	if err != nil {
		return err
	}
	b.plan = component.Plan{Spec: b.spec, Dir: b.dir, Ports: ports, Bundle: bundle}
	if b.spec.RealNode != "" {
		if b.plan.RealNode, err = b.prepareRealNode(ctx, bundle, ports); err != nil {
			return err
		}
	}
	if err := bundle.WriteKubeconfigs(b.dir, b.spec.Name, ports.APIServer); err != nil {
		return err
	}
	if err := component.WriteKwokConfig(b.dir); err != nil {
		return err
	}
	for _, c := range b.plan.All() {
		b.components[c.Name] = c
	}
	return nil
}

func (b *boot) ensurePorts() (state.Ports, error) {
	ports, err := b.dir.EnsurePorts(b.spec.APIServerPort)
	var taken *state.PortTakenError
	if errors.As(err, &taken) {
		return ports, finding.Wrap(err, finding.SandboxPortTaken, "choose another --api-server-port, or 0 to use a free port")
	}
	if err != nil {
		return ports, err
	}
	b.Supervisor.mu.Lock()
	defer b.Supervisor.mu.Unlock()
	b.ports = ports
	return ports, nil
}

// runKubernetesOnly leaves a control plane that knows our kinds, for other people's programs.
func (b *boot) runKubernetesOnly(ctx context.Context, admin *cluster.Cluster) error {
	if err := b.step(ctx, "CustomResourceDefinitions", admin.InstallCRDs); err != nil {
		return err
	}
	// Also for no nodes: those of an earlier start are removed.
	if err := b.registerNodes(ctx, admin); err != nil {
		return err
	}
	if err := b.joinRealNode(ctx, admin); err != nil {
		return err
	}
	return b.waitForAll(ctx)
}

// runSystem installs the system, starts it, and waits until co-location shows.
func (b *boot) runSystem(ctx context.Context, admin *cluster.Cluster) error {
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error {
		err := b.step(groupCtx, "install the Helm chart", func(ctx context.Context, _ func(string)) error {
			return b.install(ctx, admin)
		})
		if err != nil {
			return err
		}
		b.startSystem(ctx)
		return nil
	})
	group.Go(func() error { return b.registerNodes(groupCtx, admin) })
	group.Go(func() error { return b.joinRealNode(groupCtx, admin) })
	if err := group.Wait(); err != nil {
		return err
	}
	if err := b.waitForAll(ctx); err != nil {
		return err
	}
	if err := b.awaitSystemPods(ctx, admin); err != nil {
		return err
	}
	if err := b.awaitDiagnostics(ctx); err != nil {
		return err
	}
	return b.colocate(ctx, admin)
}

// awaitDiagnostics waits until the API server finds who explains. In a cluster that was there before everything else is in
// place at once, and nothing would be explained for some seconds.
func (b *boot) awaitDiagnostics(ctx context.Context) error {
	return b.step(ctx, "wait for the diagnostics API", func(ctx context.Context, _ func(string)) error {
		ctx, cancel := context.WithTimeout(ctx, componentTimeout)
		defer cancel()
		return awaitProbe(ctx, b.plan.Diagnostics())
	})
}

// startSystem starts those of the system's components that are processes: they need the roles and definitions that the chart
// brings.
func (b *boot) startSystem(ctx context.Context) {
	if b.plan.RealNode != nil {
		b.start(ctx, component.KubeScheduler)
	} else {
		b.start(ctx, component.Manager)
		b.start(ctx, component.Scheduler)
		b.start(ctx, component.Descheduler)
	}
	if b.spec.Nodes > 0 {
		b.start(ctx, component.Koordlets)
	}
}

// install applies the chart and, where scheduler and descheduler are processes, hands them the configurations it brought.
func (b *boot) install(ctx context.Context, admin *cluster.Cluster) error {
	var node *realnode.Node
	if b.plan.RealNode != nil {
		node = &b.plan.RealNode.Node
	}
	if err := admin.InstallSystem(ctx, b.spec, b.ports, node); err != nil || node != nil {
		return err
	}
	for _, part := range []struct{ name, configMap, file string }{
		{component.Scheduler, configuration.SchedulerConfigMapName, component.SchedulerConfigFile(b.dir)},
		{component.Descheduler, configuration.DeschedulerConfigMapName, component.DeschedulerConfigFile(b.dir)},
	} {
		config, err := admin.ComponentConfig(ctx, part.configMap, pki.KubeconfigFile(b.dir, part.name))
		if err != nil {
			return err
		}
		if err := state.WriteFile(part.file, config); err != nil {
			return err
		}
	}
	return nil
}

func (b *boot) registerNodes(ctx context.Context, admin *cluster.Cluster) error {
	return b.step(ctx, "register nodes", func(ctx context.Context, detail func(string)) error {
		ctx, cancel := context.WithTimeout(ctx, clusterTimeout)
		defer cancel()
		if err := errors.Join(admin.GrantKwok(ctx), admin.KeepRealNode(ctx, b.spec.RealNode)); err != nil {
			return err
		}
		if b.spec.Nodes > 0 {
			b.start(context.WithoutCancel(ctx), component.Kwok)
		}
		return admin.EnsureNodes(ctx, b.spec, detail)
	})
}

// colocate waits for the batch resources that show that the system works, and creates the workloads: by then every node
// is measured, so the scheduler knows from the first pod on how busy each is.
func (b *boot) colocate(ctx context.Context, admin *cluster.Cluster) error {
	if b.spec.Nodes == 0 && b.spec.RealNode == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, clusterTimeout)
	defer cancel()
	if err := b.step(ctx, "batch resources on all healthy nodes", admin.AwaitBatchResources); err != nil {
		return err
	}
	if b.spec.Scenario == "" {
		return nil
	}
	return b.step(ctx, "create the workloads of scenario "+b.spec.Scenario, func(ctx context.Context, detail func(string)) error {
		pending, err := admin.EnsureWorkloads(ctx, b.spec, detail)
		b.Supervisor.mu.Lock()
		defer b.Supervisor.mu.Unlock()
		b.pending = pending
		return err
	})
}

// start runs a component until the sandbox stops. It does not wait.
func (b *boot) start(ctx context.Context, name string) {
	c, spawner := b.components[name], b.spawner
	if c.Private {
		spawner = b.private
	}
	r := b.addRunner(c, spawner)
	// Not ctx's own cancellation: components are stopped one after the other.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	entry := running{cancel: cancel, done: make(chan struct{})}
	b.mu.Lock()
	b.started = append(b.started, entry)
	b.mu.Unlock()
	go func() {
		defer close(entry.done)
		r.run(ctx)
	}()
}

func (b *boot) startAndWait(ctx context.Context, name string) error {
	b.start(ctx, name)
	return b.wait(ctx, name)
}

// waitForAll waits for every component but the control plane, which was waited for one by one.
func (b *boot) waitForAll(ctx context.Context) error {
	b.Supervisor.mu.Lock()
	runners := slices.Clone(b.runners[controlPlane:])
	b.Supervisor.mu.Unlock()
	for _, r := range runners {
		if err := b.wait(ctx, r.component.Name); err != nil {
			return err
		}
	}
	return nil
}

// wait blocks until a started component was ready once.
func (b *boot) wait(ctx context.Context, name string) error {
	r, err := b.runner(name)
	if err != nil {
		return err
	}
	return b.step(ctx, "wait for "+name, func(ctx context.Context, _ func(string)) error {
		ctx, cancel := context.WithTimeout(ctx, componentTimeout)
		defer cancel()
		select {
		case <-r.ready:
			return nil
		case <-r.hopeless:
			err = fmt.Errorf("it exited %d times (%s)", giveUpAfter, r.snapshot().LastExit)
		case <-ctx.Done():
			err = fmt.Errorf("it was not ready within %s: %w", componentTimeout, ctx.Err())
		}
		return finding.Wrap(err, finding.SandboxComponentFailed, "") // the next thing is to read its log
	})
}

func (b *boot) runner(name string) (*runner, error) {
	b.Supervisor.mu.Lock()
	defer b.Supervisor.mu.Unlock()
	for _, r := range b.runners {
		if r.component.Name == name {
			return r, nil
		}
	}
	return nil, fmt.Errorf("component %q was not started", name)
}

// controlPlane is how many of the first components, etcd and the API server, the others need until their own end.
const controlPlane = 2

// stopAll ends the components: all that use the API server at once, then the API server, then etcd.
func (b *boot) stopAll() {
	b.mu.Lock()
	defer b.mu.Unlock()
	split := min(controlPlane, len(b.started))
	stop(b.started[split:]...)
	for i := split - 1; i >= 0; i-- {
		stop(b.started[i])
	}
}

func stop(entries ...running) {
	for _, entry := range entries {
		entry.cancel()
	}
	for _, entry := range entries {
		<-entry.done
	}
}
