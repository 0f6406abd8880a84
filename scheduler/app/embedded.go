package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	kubeconfig "k8s.io/kubernetes/cmd/kube-scheduler/app/config"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"koordinator.sh/koord/scheduler/frameworkext"
	"koordinator.sh/koord/scheduler/part"
	"koordinator.sh/koord/scheduler/plugins"
	"koordinator.sh/koord/scheduler/recorder"
)

// Embedded is what koord-scheduler adds to a scheduler that another program builds and runs, such as a benchmark: the
// plugins on the state that they share, the extended profiles, and the controllers that write what plugins decided. It
// belongs to one scheduler, the only one of its cluster. It is safe for concurrent use.
type Embedded struct {
	attempts *recorder.Recorder

	mutex   sync.Mutex
	handle  fwk.Handle
	parts   part.Set
	created createdPlugins
}

// NewEmbedded returns one that does not know its scheduler: it takes the cluster from the first plugin that is made.
func NewEmbedded() *Embedded {
	return &Embedded{attempts: recorder.New(recorder.DefaultBounds(), time.Now)}
}

// Registry makes the plugins. Make the scheduler with it before its informers start.
func (e *Embedded) Registry() frameworkruntime.Registry {
	registry := frameworkruntime.Registry{}
	for _, declared := range plugins.Parts() {
		registry[declared.Name] = func(ctx context.Context, args runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
			parts, err := e.connected(handle)
			if err != nil {
				return nil, err
			}
			return e.created.remembering(parts.Registry())[declared.Name](ctx, args, handle)
		}
	}
	return registry
}

// connected are the parts in the cluster of a profile, which is the same for all profiles.
func (e *Embedded) connected(handle fwk.Handle) (part.Set, error) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.parts != nil {
		return e.parts, nil
	}
	parts, err := connect(handle.KubeConfig(), handle.SharedInformerFactory())
	if err != nil {
		return nil, err
	}
	e.handle, e.parts = handle, parts
	return parts, nil
}

// errNoPlugin is the error for a scheduler that was made without the plugins.
var errNoPlugin = errors.New("the scheduler was made without plugins of koord-scheduler")

func (e *Embedded) bound() (part.Set, fwk.Handle, error) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.parts == nil {
		return nil, nil, errNoPlugin
	}
	return e.parts, e.handle, nil
}

// Attach extends the scheduler that was made with the Registry, before it takes its first pod.
func (e *Embedded) Attach(ctx context.Context, built *scheduler.Scheduler) error {
	parts, _, err := e.bound()
	if err != nil {
		return fmt.Errorf("attach to a scheduler: %w", err)
	}
	for resource, informer := range parts.Watches() {
		if _, err := informer.AddEventHandler(wakePods(klog.FromContext(ctx), built, resource)); err != nil {
			return fmt.Errorf("watch %s: %w", resource.Resource, err)
		}
	}
	return frameworkext.Install(built, e.created.of, e.attempts, parts.Seams())
}

// wakePods passes changes to a resource on to the queue, as the scheduler itself does for resources that it may watch.
func wakePods(logger klog.Logger, built *scheduler.Scheduler, resource schema.GroupVersionResource) cache.ResourceEventHandler {
	name := fwk.EventResource(fmt.Sprintf("%s.%s.%s", resource.Resource, resource.Version, resource.Group))
	wake := func(action fwk.ActionType, before, after any) {
		built.SchedulingQueue.MoveAllToActiveOrBackoffQueue(logger, fwk.ClusterEvent{Resource: name, ActionType: action}, before, after, nil)
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { wake(fwk.Add, nil, object) },
		UpdateFunc: func(before, after any) { wake(fwk.Update, before, after) },
		DeleteFunc: func(object any) {
			if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = unknown.Obj
			}
			wake(fwk.Delete, object, nil)
		},
	}
}

// Run watches custom resources and runs the controllers until the context ends, when all it started has stopped. The
// profiles are those of the scheduler. The cluster must serve the custom resources.
func (e *Embedded) Run(ctx context.Context, profiles []config.KubeSchedulerProfile) error {
	parts, handle, err := e.bound()
	if err != nil {
		return fmt.Errorf("run beside a scheduler: %w", err)
	}
	client, err := kubernetes.NewForConfig(handle.KubeConfig())
	if err != nil {
		return fmt.Errorf("create a client for events: %w", err)
	}
	broadcaster := events.NewEventBroadcasterAdapterWithContext(ctx, client)
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(ctx.Done())
	completed := (&kubeconfig.Config{KubeConfig: handle.KubeConfig(), InformerFactory: handle.SharedInformerFactory(), EventBroadcaster: broadcaster}).Complete()
	work, err := leaderWork(&completed, parts, profiles, func() bool { return true })
	if err != nil {
		return err
	}
	var group sync.WaitGroup
	for _, run := range slices.Concat(work, []func(context.Context){parts.Run}) {
		group.Go(func() { run(ctx) })
	}
	group.Wait()
	return nil
}

// Discard ends what the plugins brought with them, for a scheduler that is given up before Run. After Run it does nothing.
func (e *Embedded) Discard() {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.parts.Discard()
}

// Settle waits until the custom resources are known, or the context ends. Run must run.
func (e *Embedded) Settle(ctx context.Context) error {
	parts, _, err := e.bound()
	if err != nil {
		return fmt.Errorf("wait for custom resources: %w", err)
	}
	parts.WaitSettled(ctx)
	return ctx.Err()
}
