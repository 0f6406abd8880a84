package reservepods

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	decision "koordinator.sh/koord/decision/scheduling/reservation"
	"koordinator.sh/koord/scheduler/state/reservations"
)

// notLeadingDelay is how often a process that does not lead looks whether it does.
const notLeadingDelay = 5 * time.Second

// Options of a Controller.
type Options struct {
	State  *reservations.State
	Writer reservations.Writer
	// Client writes the current owner of operating-mode pods.
	Client kubernetes.Interface
	// Pods and Nodes are the scheduler's informers.
	Pods, Nodes cache.SharedIndexInformer
	// Args of the plugin; those of the first profile.
	Args *decision.Args
	// Leading is true while this process may write.
	Leading func() bool
	Now     func() time.Time
}

// key is a Reservation, or an operating-mode pod when it has a namespace.
type key struct{ namespace, name string }

// spread is less than a second, and the same for the same object: not all are looked at in the same moment, and those that are
// looked at again and again are in the same order.
func (k key) spread() time.Duration {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(k.namespace + "/" + k.name)) // a hash takes everything
	return time.Duration(hash.Sum32()%1000) * time.Millisecond
}

// Controller ends Reservations that are due, writes down who uses them, and deletes those that ended long ago.
type Controller struct {
	Options
	queue workqueue.TypedRateLimitingInterface[key]

	mutex sync.Mutex
	// written are the versions of Reservations that a status was written over. While the informer still shows that version,
	// everything would be decided and written once more, and refused.
	written map[key]overwritten
}

// overwritten is a version of a Reservation that a status was written over at a time.
type overwritten struct {
	version string
	at      time.Time
}

// newsDelay is how long the informer may take to show what was written.
const newsDelay = 10 * time.Second

// NewController returns a Controller. Nothing is written before Run.
func NewController(options Options) (*Controller, error) {
	c := &Controller{Options: options, written: map[key]overwritten{}, queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[key]())}
	for _, watched := range []struct {
		informer cache.SharedIndexInformer
		handler  cache.ResourceEventHandler
	}{
		{options.State.Informer(), cache.ResourceEventHandlerFuncs{AddFunc: c.reservation, UpdateFunc: func(_, object any) { c.reservation(object) }}},
		{options.Nodes, cache.ResourceEventHandlerFuncs{DeleteFunc: c.node}},
	} {
		if _, err := watched.informer.AddEventHandler(watched.handler); err != nil {
			return nil, fmt.Errorf("watch for the end of reservations: %w", err)
		}
	}
	options.State.AddUseHandler(c.used)
	return c, nil
}

func (c *Controller) reservation(object any) {
	if r, ok := object.(*schedulingv1alpha1.Reservation); ok {
		c.queue.Add(key{name: r.Name})
	}
}

// used enqueues a reservation whose users changed.
func (c *Controller) used(view *reservations.View) {
	if view.Object == nil {
		c.queue.Add(key{view.Pod.Namespace, view.Pod.Name})
	} else {
		c.queue.Add(key{name: view.Name})
	}
}

func (c *Controller) node(object any) {
	name, err := cache.DeletionHandlingObjectToName(object)
	if err != nil {
		return
	}
	views := c.State.OnNode(name.Name)
	slices.SortFunc(views, func(a, b *reservations.View) int { return strings.Compare(a.Name, b.Name) })
	for _, view := range views {
		c.queue.Add(key{name: view.Name})
	}
}

// Run works until the context ends.
func (c *Controller) Run(ctx context.Context) {
	var workers sync.WaitGroup
	for range *c.Args.ControllerWorkers {
		workers.Go(func() { c.work(ctx) })
	}
	<-ctx.Done()
	c.queue.ShutDown()
	workers.Wait()
}

func (c *Controller) work(ctx context.Context) {
	for {
		next, shutdown := c.queue.Get()
		if shutdown {
			return
		}
		after, err := c.sync(ctx, next)
		switch {
		case err != nil && ctx.Err() == nil:
			klog.FromContext(ctx).V(2).Info("A reservation is not brought up to date; retrying", "reservation", next.name, "err", err)
			c.queue.AddRateLimited(next)
		case after > 0:
			c.queue.Forget(next)
			c.queue.AddAfter(next, after)
		default:
			c.queue.Forget(next)
		}
		c.queue.Done(next)
	}
}

// sync brings one Reservation up to date, and says when to look at it again; 0 for never.
func (c *Controller) sync(ctx context.Context, k key) (time.Duration, error) {
	if !c.Leading() || !c.State.Settled() || !c.Nodes.HasSynced() {
		return notLeadingDelay + k.spread(), nil
	}
	if k.namespace != "" {
		return 0, c.writeCurrentOwner(ctx, k)
	}
	object, found := c.State.Get(k.name)
	if !found {
		c.forget(k)
		return 0, nil
	}
	if c.outdated(k, object.ResourceVersion) {
		return newsDelay + k.spread(), nil // the version that follows brings it back before that
	}
	step := decision.Next(c.life(object))
	switch {
	case step.Delete:
		klog.FromContext(ctx).Info("Deleting a reservation", "reservation", k.name, "because", step.Because)
		err := c.Writer.Delete(ctx, object)
		if apierrors.IsNotFound(err) {
			return 0, nil
		}
		return 0, err
	case step.Status != nil:
		klog.FromContext(ctx).V(2).Info("Writing the status of a reservation", "reservation", k.name, "phase", step.Status.Phase, "because", step.Because)
		switch err := c.Writer.WriteStatus(ctx, object, step.Status); {
		case err == nil:
			c.wrote(k, object.ResourceVersion)
		case !apierrors.IsNotFound(err):
			return 0, err
		}
	}
	return c.again(object, step.After), nil
}

// wrote notes which version of a Reservation a status was written over.
func (c *Controller) wrote(k key, version string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.written[k] = overwritten{version, c.Now()}
}

// outdated reports whether a status was written over this version a moment ago.
func (c *Controller) outdated(k key, version string) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	over, found := c.written[k]
	if age := c.Now().Sub(over.at); found && over.version == version && age >= 0 && age < newsDelay {
		return true
	}
	delete(c.written, k)
	return false
}

func (c *Controller) forget(k key) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	delete(c.written, k)
}

// again bounds the time to the next look while a Reservation lasts.
func (c *Controller) again(object *schedulingv1alpha1.Reservation, after time.Duration) time.Duration {
	if decision.Terminal(object) {
		return after
	}
	resync := time.Duration(*c.Args.ResyncIntervalSeconds) * time.Second
	if after <= 0 {
		return resync
	}
	return min(after, resync)
}

func (c *Controller) life(object *schedulingv1alpha1.Reservation) decision.Life {
	life := decision.Life{Object: object, Users: c.State.Bound(object.UID, object.Status.NodeName), Now: c.Now()}
	if !*c.Args.DisableGarbageCollection {
		life.Collect = time.Duration(*c.Args.GCDurationSeconds) * time.Second
	}
	if node := object.Status.NodeName; node != "" {
		_, exists, err := c.Nodes.GetIndexer().GetByKey(node)
		life.NodeGone = err == nil && !exists
	}
	return life
}

// writeCurrentOwner makes an operating-mode pod say who uses it.
func (c *Controller) writeCurrentOwner(ctx context.Context, k key) error {
	object, found, err := c.Pods.GetIndexer().GetByKey(k.namespace + "/" + k.name)
	pod, ok := object.(*corev1.Pod)
	if err != nil || !found || !ok {
		return err
	}
	var owner any // null removes the annotation
	users := c.State.Bound(pod.UID, pod.Spec.NodeName)
	if len(users) > 0 {
		// One of several, and always the same one.
		user := users[slices.Min(slices.Collect(maps.Keys(users)))]
		text, err := json.Marshal(corev1.ObjectReference{Namespace: user.Namespace, Name: user.Name, UID: user.UID})
		if err != nil {
			return fmt.Errorf("encode the current owner of pod %s/%s: %w", k.namespace, k.name, err)
		}
		owner = string(text)
	}
	current, written := pod.Annotations[extension.AnnotationReservationCurrentOwner]
	if owner == nil && !written || owner == current {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": pod.UID, "annotations": map[string]any{extension.AnnotationReservationCurrentOwner: owner},
	}})
	if err != nil {
		return fmt.Errorf("encode the current owner of pod %s/%s: %w", k.namespace, k.name, err)
	}
	_, err = c.Client.CoreV1().Pods(k.namespace).Patch(ctx, k.name, types.MergePatchType, patch, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("write the current owner of pod %s/%s: %w", k.namespace, k.name, err)
	}
	return nil
}
