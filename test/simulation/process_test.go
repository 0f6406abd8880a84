package simulation

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"k8s.io/component-base/configz"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	kubeconfig "k8s.io/kubernetes/cmd/kube-scheduler/app/config"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"koordinator.sh/koord/scheduler/app"
	"koordinator.sh/koord/scheduler/part"
)

// process is one koord-scheduler with its connection to the API server. It decides about a pod only on request.
type process struct {
	*connection
	Scheduler *scheduler.Scheduler
	parts     part.Set
	gate      *gate
	cancel    context.CancelFunc
	done      sync.WaitGroup
}

// gate lets scheduling cycles through, one at a time.
type gate struct {
	open    chan struct{}
	reached atomic.Bool
}

func (g *gate) guard(ctx context.Context, next func(klog.Logger) (*framework.QueuedPodInfo, error)) func(klog.Logger) (*framework.QueuedPodInfo, error) {
	return func(logger klog.Logger) (*framework.QueuedPodInfo, error) {
		g.reached.Store(true)
		select {
		case <-g.open:
		case <-ctx.Done():
		}
		g.reached.Store(false)
		return next(logger)
	}
}

// start runs a scheduler with the built-in configuration, and returns when it is ready to decide.
func start(name string, objects *store) (*process, error) {
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), klog.Logger{}))
	p := &process{connection: &connection{client: name, store: objects}, gate: &gate{open: make(chan struct{})}, cancel: cancel}
	completed, err := p.configuration()
	if err != nil {
		cancel()
		return nil, err
	}
	opts := app.NewOptions()
	opts.DiagnosticsPort = 0
	assembled, err := app.Assemble(ctx, opts, completed)
	if err != nil {
		cancel()
		return nil, err
	}
	p.Scheduler, p.parts = assembled.Kubernetes(), assembled.Parts()
	p.Scheduler.NextPod = p.gate.guard(ctx, p.Scheduler.NextPod)
	p.Scheduler.FailureHandler = inTurn(p.Scheduler.FailureHandler)
	configz.Delete("componentconfig")            // which registers itself once in a process of the operating system
	p.done.Go(func() { _ = assembled.Run(ctx) }) // ends with the context
	for range 200 {
		synctest.Wait()
		if p.gate.reached.Load() {
			return p, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	p.stop()
	return nil, fmt.Errorf("the scheduler %s is not ready after 10 s", name)
}

// inTurn lets pods fail one after the other. Members of a gang are refused in one moment, each on its own goroutine, and
// the queue puts those that failed in the same moment in any order.
func inTurn(handle scheduler.FailureHandlerFn) scheduler.FailureHandlerFn {
	return func(ctx context.Context, f framework.Framework, info *framework.QueuedPodInfo, status *fwk.Status, nominated *fwk.NominatingInfo, began time.Time) {
		number, _ := strconv.Atoi(strings.TrimPrefix(string(info.Pod.UID), "uid-"))
		time.Sleep(time.Duration(number) * time.Microsecond)
		handle(ctx, f, info, status, nominated, began)
	}
}

func (p *process) configuration() (*kubeconfig.CompletedConfig, error) {
	component, err := app.DefaultConfiguration()
	if err != nil {
		return nil, err
	}
	component.LeaderElection.LeaderElect = false
	component.Parallelism = 1
	client, err := kubernetes.NewForConfig(p.config())
	if err != nil {
		return nil, err
	}
	generic, err := dynamic.NewForConfig(p.config())
	if err != nil {
		return nil, err
	}
	config := &kubeconfig.Config{
		ComponentConfig: *component, Client: client, KubeConfig: p.config(), InformerFactory: scheduler.NewInformerFactory(client, 0),
		DynInformerFactory: dynamicinformer.NewDynamicSharedInformerFactory(generic, 0),
		EventBroadcaster:   events.NewEventBroadcasterAdapter(client),
	}
	completed := config.Complete()
	return &completed, nil
}

// decide lets one scheduling cycle run, if there is a pod to decide about.
func (p *process) decide() bool {
	if !p.gate.reached.Load() || len(p.Scheduler.SchedulingQueue.PodsInActiveQ()) == 0 {
		return false
	}
	p.gate.open <- struct{}{}
	synctest.Wait()
	return true
}

// stop ends the process. Its calls are neither answered nor made any more. Pods that wait for the rest of their gang do so
// on goroutines that a process takes with it when it dies, and that outlive the end of a context.
func (p *process) stop() {
	p.dead.Store(true)
	p.cancel()
	for _, profile := range p.Scheduler.Profiles {
		profile.IterateOverWaitingPods(func(waits fwk.WaitingPod) { waits.Reject("simulation", "the process ends") })
	}
	for _, w := range p.store.open(p.client) {
		w.end()
	}
	for _, c := range p.take() {
		c.answer <- answer{err: errRefused}
	}
	synctest.Wait()
	p.done.Wait()
	synctest.Wait()
}
