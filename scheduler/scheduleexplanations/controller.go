package scheduleexplanations

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/scheduler/informer"
)

const (
	// refreshInterval is how old an answer gets before it is renewed, if anything has changed in the cluster.
	refreshInterval = time.Minute
	// spacing is the least time between two answers to one question, whatever changes.
	spacing = 5 * time.Second
	// A question that failed is tried again after a time that doubles from firstRetry to lastRetry.
	firstRetry = time.Second
	lastRetry  = 5 * time.Minute
	// answerTimeout bounds one explanation.
	answerTimeout = 30 * time.Second
	// settleInterval is how often Run looks whether what it reads is known.
	settleInterval = 100 * time.Millisecond
)

// byName indexes ScheduleExplanations by the subjects they ask about.
const byName = "subject"

// Explainer answers questions about pods.
type Explainer interface {
	Explain(context.Context, *diagnosticsv1alpha1.PodExplanation) (*diagnosticsv1alpha1.PodExplanation, error)
}

// Options of a Controller. All fields without a default are required.
type Options struct {
	// Pods and Nodes are the scheduler's own informers. The Controller does not start them.
	Pods  coreinformers.PodInformer
	Nodes coreinformers.NodeInformer
	// Client reads pods that have finished, which the scheduler does not watch.
	Client kubernetes.Interface
	// Explainer answers.
	Explainer Explainer
	// SystemNamespace is the namespace whose objects may ask about pods of all others; none when it is empty.
	SystemNamespace string
	// Changes counts what changes in the cluster besides pods and nodes; nil counts nothing.
	Changes func() uint64
	// Clock is the real one when it is nil.
	Clock clock.WithTicker
}

// Controller fills, refreshes and removes ScheduleExplanations. It runs once.
type Controller struct {
	explanations *informer.Informer
	writer       writer
	pods         coreinformers.PodInformer
	nodes        coreinformers.NodeInformer
	client       kubernetes.Interface
	explainer    Explainer
	system       string
	others       func() uint64
	clock        clock.WithTicker
	queue        workqueue.TypedRateLimitingInterface[string]
	// objects counts ScheduleExplanations: without any, pods need no look.
	objects atomic.Int64
	// changes counts the changes of pods and nodes.
	changes atomic.Uint64
	// answered is what was answered last, by key. Only the worker reads and writes it.
	answered map[string]*answered
}

// New returns a Controller on the cluster that config reaches. Nothing is watched before Run.
func New(config *rest.Config, options Options) (*Controller, error) {
	explanations, err := informer.New(config, kind)
	if err != nil {
		return nil, err
	}
	writer, err := newRESTWriter(config)
	if err != nil {
		return nil, err
	}
	return newController(explanations, writer, options)
}

func newController(explanations *informer.Informer, writer writer, options Options) (*Controller, error) {
	c := &Controller{
		explanations: explanations, writer: writer, pods: options.Pods, nodes: options.Nodes, client: options.Client,
		explainer: options.Explainer, system: options.SystemNamespace, others: options.Changes, clock: options.Clock,
		answered: map[string]*answered{},
	}
	if c.others == nil {
		c.others = func() uint64 { return 0 }
	}
	if c.clock == nil {
		c.clock = clock.RealClock{}
	}
	if err := explanations.AddIndexers(cache.Indexers{byName: c.indexed}); err != nil {
		return nil, fmt.Errorf("index %s: %w", Resource.Resource, err)
	}
	return c, nil
}

// indexed lists the subjects of an object; none when it cannot be answered.
func (c *Controller) indexed(object any) ([]string, error) {
	explanation, ok := object.(*schedulingv1alpha1.ScheduleExplanation)
	if !ok {
		return nil, nil
	}
	subjects, err := subjectsOf(explanation, c.system)
	if err != nil {
		return nil, nil
	}
	names := make([]string, len(subjects))
	for i, subject := range subjects {
		names[i] = subject.String()
	}
	return names, nil
}

// Run answers until the context ends. It must be called on the leader only. That the cluster does not serve
// ScheduleExplanations is no error: they are looked for again.
func (c *Controller) Run(ctx context.Context) error {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[string](firstRetry, lastRetry)
	c.queue = workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[string]{Name: Resource.Resource, Clock: c.clock})
	var running sync.WaitGroup
	defer running.Wait()
	defer c.queue.ShutDown()
	remove, err := c.watch()
	defer remove()
	if err != nil {
		return err
	}
	running.Go(func() { c.explanations.RunWithContext(ctx) })
	// An object is removed with its pod, so nothing may be decided before all pods are known.
	synced := func() bool {
		return c.explanations.HasSynced() && c.pods.Informer().HasSynced() && c.nodes.Informer().HasSynced()
	}
	if !c.await(ctx, synced) {
		return nil
	}
	running.Go(func() {
		for c.next(ctx) {
		}
	})
	<-ctx.Done()
	return nil
}

// await waits for a condition; it returns false when the context ends first.
func (c *Controller) await(ctx context.Context, condition func() bool) bool {
	tick := c.clock.NewTicker(settleInterval)
	defer tick.Stop()
	for !condition() {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C():
		}
	}
	return true
}

// watch has the changes of objects, pods and nodes noticed, until remove is called.
func (c *Controller) watch() (remove func(), err error) {
	var undo []func()
	remove = func() {
		for _, one := range undo {
			one()
		}
	}
	count := func() { c.changes.Add(1) }
	for _, watched := range []struct {
		informer cache.SharedIndexInformer
		handler  cache.ResourceEventHandler
	}{
		{c.explanations, cache.ResourceEventHandlerFuncs{
			AddFunc:    func(object any) { c.objects.Add(1); c.asked(object) },
			UpdateFunc: func(_, object any) { c.asked(object) },
			DeleteFunc: func(object any) { c.objects.Add(-1); c.asked(object) },
		}},
		{c.pods.Informer(), cache.ResourceEventHandlerFuncs{
			AddFunc:    func(object any) { count(); c.podChanged(object) },
			UpdateFunc: func(old, object any) { count(); c.podUpdated(old, object) },
			DeleteFunc: func(object any) { count(); c.podChanged(object) },
		}},
		{c.nodes.Informer(), cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { count() }, UpdateFunc: func(any, any) { count() }, DeleteFunc: func(any) { count() },
		}},
	} {
		registration, err := watched.informer.AddEventHandler(watched.handler)
		if err != nil {
			return remove, fmt.Errorf("watch for %s: %w", Resource.Resource, err)
		}
		undo = append(undo, func() { _ = watched.informer.RemoveEventHandler(registration) }) // it fails only when stopped
	}
	return remove, nil
}

// asked queues an object that came, changed or went.
func (c *Controller) asked(object any) {
	if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object); err == nil {
		c.queue.Add(key)
	}
}

// podChanged queues the questions about a pod that came or went.
func (c *Controller) podChanged(object any) {
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	pod, ok := object.(*corev1.Pod)
	if !ok || c.objects.Load() == 0 {
		return
	}
	for _, name := range namesOf(pod) {
		keys, err := c.explanations.GetIndexer().IndexKeys(byName, name.String())
		if err != nil {
			return // only an informer without the index says so
		}
		for _, key := range keys {
			c.queue.Add(key)
		}
	}
}

// podUpdated queues the questions about a pod, also those that it belonged to before.
func (c *Controller) podUpdated(old, object any) {
	before, okBefore := old.(*corev1.Pod)
	after, okAfter := object.(*corev1.Pod)
	if okBefore && okAfter && before.ResourceVersion != after.ResourceVersion {
		c.podChanged(before)
		c.podChanged(after)
	}
}

// next handles one object; it returns false when there will be no more.
func (c *Controller) next(ctx context.Context) bool {
	key, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(key)
	again, err := c.handle(ctx, key)
	switch {
	case ctx.Err() != nil:
	case err == nil:
		c.queue.Forget(key)
		if again > 0 {
			c.queue.AddAfter(key, again)
		}
	default:
		if !apierrors.IsConflict(err) { // the object as it is by now comes in a moment
			klog.FromContext(ctx).Error(err, "Failed to answer a ScheduleExplanation, retrying", "scheduleExplanation", key, "retries", c.queue.NumRequeues(key))
		}
		c.queue.AddRateLimited(key)
	}
	return true
}

// version changes with the cluster.
func (c *Controller) version() [2]uint64 { return [2]uint64{c.changes.Load(), c.others()} }
