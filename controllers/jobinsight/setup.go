package jobinsight

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"koordinator.sh/koord/controllers/jobinsight/engines"
	"koordinator.sh/koord/decision/core/jobinsight"
)

const (
	// interval is the time between two passes, and about half of the shortest time between two reports of a node agent.
	interval = 30 * time.Second
	// saveInterval is the least time between two writes of the store.
	saveInterval = time.Minute
	// saveTimeout bounds the write when koord-manager ends.
	saveTimeout = 5 * time.Second
)

// controller runs the collector.
type controller struct {
	*collector
	informers ctrlcache.Informers
	clock     clock.WithTicker
	readers   *readers
}

// AddToManager adds the controller, which the leader runs. The store is kept in a namespace, and also learns from what engines tell.
func AddToManager(mgr ctrl.Manager, namespace string, engines []engines.Engine) error {
	register()
	c := newCollector(mgr.GetClient(), mgr.GetAPIReader(), mgr.GetEventRecorder("job-insight"), clock.RealClock{}, namespace)
	for _, engine := range engines {
		c.sources |= jobinsight.SetOf(engine.Source)
	}
	if err := mgr.Add(&controller{collector: c, informers: mgr.GetCache(), clock: clock.RealClock{}, readers: newReaders(engines, clock.RealClock{})}); err != nil {
		return fmt.Errorf("add the collector of jobs: %w", err)
	}
	return nil
}

func newCollector(c client.Client, live client.Reader, recorder events.EventRecorder, clock clock.PassiveClock, namespace string) *collector {
	return &collector{
		client: c, live: live, clock: clock, running: map[key]*running{}, unread: map[string]bool{}, sources: jobinsight.SetOf(jobinsight.Pods),
		saver: saver{client: c, live: live, recorder: recorder, namespace: namespace},
	}
}

// Start reads the store, and collects until the context ends. Then it writes the store once more.
func (c *controller) Start(ctx context.Context) error {
	ticker := c.clock.NewTicker(interval)
	defer ticker.Stop()
	if !c.begin(ctx, ticker) {
		return nil
	}
	informer, err := c.informers.GetInformer(ctx, &corev1.Pod{})
	if err != nil {
		return fmt.Errorf("watch pods: %w", err)
	}
	handle, err := informer.AddEventHandler(c.handler())
	if err != nil {
		return fmt.Errorf("watch pods: %w", err)
	}
	defer func() { _ = informer.RemoveEventHandler(handle) }()
	c.readers.start(ctx, c.store)
	defer c.readers.running.Wait()
	c.pass(ctx)
	for {
		select {
		case told := <-c.readers.told:
			c.learnEvents(ctx, told)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
			defer cancel()
			c.report(last, c.save(last, c.clock.Now()))
			return nil
		case <-ticker.C():
			c.pass(ctx)
		}
	}
}

// begin reads the store and what it missed, again and again until the API server answers; false when the context ends before.
func (c *controller) begin(ctx context.Context, ticker clock.Ticker) bool {
	for {
		err := c.load(ctx, c.clock.Now())
		if err == nil {
			err = c.catchUp(ctx)
		}
		if err == nil {
			return true
		}
		klog.FromContext(ctx).Error(err, "Failed to read what is known of jobs")
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C():
		}
	}
}

func (c *collector) handler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) {
			if pod, ok := object.(*corev1.Pod); ok {
				c.started(pod)
			}
		},
		UpdateFunc: func(_, object any) {
			if pod, ok := object.(*corev1.Pod); ok {
				c.started(pod)
			}
		},
		DeleteFunc: func(object any) {
			if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = gone.Obj
			}
			if pod, ok := object.(*corev1.Pod); ok {
				c.left(pod)
			}
		},
	}
}
