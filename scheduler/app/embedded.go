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

	"koordinator.sh/koord/scheduler/explain"
	"koordinator.sh/koord/scheduler/recorder"
)

// Embedded is what koord-scheduler adds to a scheduler that another program builds and runs, such as a benchmark: the
// plugins on the state that they share, the extended profiles, and the controllers that write what plugins decided. It
// belongs to one scheduler, the only one of its cluster. It is safe for concurrent use.
type Embedded struct {
	attempts *recorder.Recorder

	mutex  sync.Mutex
	handle fwk.Handle
	shared *shared
}

// NewEmbedded returns one that does not know its scheduler: it takes the cluster from the first plugin that is made.
func NewEmbedded() *Embedded {
	return &Embedded{attempts: recorder.New(recorder.DefaultBounds(), time.Now)}
}

// Registry makes the plugins. Make the scheduler with it before its informers start.
func (e *Embedded) Registry() frameworkruntime.Registry {
	registry := frameworkruntime.Registry{}
	for name := range (&shared{}).outOfTree(explain.Supposed{}, time.Now) {
		registry[name] = func(ctx context.Context, args runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
			common, err := e.sharedOf(handle)
			if err != nil {
				return nil, err
			}
			return common.created.remembering(common.outOfTree(common.live(), time.Now))[name](ctx, args, handle)
		}
	}
	return registry
}

// sharedOf is the state of the cluster of a profile, which is the same for all profiles.
func (e *Embedded) sharedOf(handle fwk.Handle) (*shared, error) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.shared != nil {
		return e.shared, nil
	}
	common, err := newShared(handle.KubeConfig(), handle.SharedInformerFactory())
	if err != nil {
		return nil, err
	}
	e.handle, e.shared = handle, common
	return common, nil
}

// errNoPlugin is the error for a scheduler that was made without the plugins.
var errNoPlugin = errors.New("the scheduler was made without plugins of koord-scheduler")

func (e *Embedded) bound() (*shared, fwk.Handle, error) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.shared == nil {
		return nil, nil, errNoPlugin
	}
	return e.shared, e.handle, nil
}

// Attach extends the scheduler that was made with the Registry, before it takes its first pod.
func (e *Embedded) Attach(ctx context.Context, built *scheduler.Scheduler) error {
	common, _, err := e.bound()
	if err != nil {
		return fmt.Errorf("attach to a scheduler: %w", err)
	}
	for resource, informer := range common.watched() {
		if _, err := informer.AddEventHandler(wakePods(klog.FromContext(ctx), built, resource)); err != nil {
			return fmt.Errorf("watch %s: %w", resource.Resource, err)
		}
	}
	return extend(built, common, &common.created, e.attempts)
}

// wakePods tells the queue of changes to a resource, as the scheduler does by itself for resources that it may watch.
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
	common, handle, err := e.bound()
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
	work, err := leaderWork(&completed, common, profiles, func() bool { return true })
	if err != nil {
		return err
	}
	var group sync.WaitGroup
	for _, part := range slices.Concat(work, []func(context.Context){common.run}) {
		group.Go(func() { part(ctx) })
	}
	group.Wait()
	return nil
}

// Discard ends what the plugins brought with them, for a scheduler that is given up before Run. After Run it does nothing.
func (e *Embedded) Discard() {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.shared != nil {
		e.shared.bridge.Discard()
	}
}

// Settle waits until the custom resources are known, or the context ends. Run must run.
func (e *Embedded) Settle(ctx context.Context) error {
	common, _, err := e.bound()
	if err != nil {
		return fmt.Errorf("wait for custom resources: %w", err)
	}
	common.settle(ctx)
	return ctx.Err()
}
