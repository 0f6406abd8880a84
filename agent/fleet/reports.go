package fleet

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/report"
)

const (
	// reporters is how many reports are under way at the same time.
	reporters = 16
	// A report that failed is made again after a time that doubles from firstRetry to lastRetry.
	firstRetry = 500 * time.Millisecond
	lastRetry  = 30 * time.Second
)

// reports writes what is due, each node's latest state at the time of writing.
type reports struct {
	writer  *report.Writer
	clock   clock.WithTicker
	agent   func(name string) *agent
	queue   workqueue.TypedRateLimitingInterface[string]
	metrics *instruments
	// failed says that the API server did not take the last report; it is logged when that changes.
	failed atomic.Bool
}

func newReports(client rest.Interface, clock clock.WithTicker, agent func(string) *agent, metrics *instruments) *reports {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[string](firstRetry, lastRetry)
	return &reports{
		writer: report.NewWriter(client), clock: clock, agent: agent, metrics: metrics,
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[string]{Clock: clock}),
	}
}

// due has a node reported soon. It is safe for concurrent use.
func (r *reports) due(name string) { r.queue.Add(name) }

// run writes reports until the context ends.
func (r *reports) run(ctx context.Context) {
	var pool sync.WaitGroup
	for range reporters {
		pool.Go(func() {
			for r.next(ctx) {
			}
		})
	}
	<-ctx.Done()
	r.queue.ShutDown()
	pool.Wait()
}

// next writes one report; it returns false when there will be no more.
func (r *reports) next(ctx context.Context) bool {
	name, shutdown := r.queue.Get()
	if shutdown {
		return false
	}
	defer r.queue.Done(name)
	err := r.write(ctx, name)
	switch {
	case err == nil || ctx.Err() != nil:
		r.queue.Forget(name)
	case apierrors.IsNotFound(err):
		// The NodeMetric was deleted; the manager makes a new one, and the informer says so.
		r.metrics.count(reportGone)
		r.queue.Forget(name)
	case apierrors.IsInvalid(err) || apierrors.IsBadRequest(err):
		klog.FromContext(ctx).Error(err, "API server rejected NodeMetric", "node", name)
		r.metrics.count(reportRefused)
		r.queue.Forget(name)
	default:
		r.metrics.count(reportFailed)
		if !r.failed.Swap(true) {
			klog.FromContext(ctx).Error(err, "Failed to report NodeMetric, will retry")
		}
		r.queue.AddRateLimited(name)
	}
	return true
}

func (r *reports) write(ctx context.Context, name string) error {
	a := r.agent(name)
	if a == nil {
		return nil
	}
	status := a.status(r.clock.Now())
	if status == nil {
		return nil
	}
	if err := r.writer.Write(ctx, name, status); err != nil {
		return err
	}
	r.metrics.count(reportTaken)
	a.setReported(r.clock.Now())
	if r.failed.Swap(false) {
		klog.FromContext(ctx).Info("Reporting NodeMetric again")
	}
	return nil
}
