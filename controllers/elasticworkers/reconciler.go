package elasticworkers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/noderesource/workers"
)

const (
	// interval is the time between two passes, and drainInterval while workers drain.
	interval      = 15 * time.Second
	drainInterval = 5 * time.Second
)

// reconciler looks at all ElasticWorkers in each pass, in a fixed order, so that those that share nodes do not count on the same room.
type reconciler struct {
	// client reads from a cache of the pods that occupy a node, and live from the API server.
	client   client.Client
	live     client.Reader
	scales   scales
	nodes    Nodes
	recorder events.EventRecorder
	asker    *asker
	clock    clock.PassiveClock
}

// Reconcile makes one pass. One of the ElasticWorkers that cannot be kept does not hold up the others.
func (r *reconciler) Reconcile(ctx context.Context, _ reconcile.Request) (ctrl.Result, error) {
	var list schedulingv1alpha1.ElasticWorkersList
	if err := r.client.List(ctx, &list); err != nil {
		return ctrl.Result{}, fmt.Errorf("list elasticworkers: %w", err)
	}
	forget(list.Items)
	if len(list.Items) == 0 {
		return ctrl.Result{}, nil
	}
	slices.SortFunc(list.Items, older)
	s, err := r.snapshot(ctx, list.Items)
	if err != nil {
		return ctrl.Result{}, err
	}
	var errs []error
	next := interval
	for i := range list.Items {
		draining, err := r.keep(ctx, &list.Items[i], s)
		if ctx.Err() != nil {
			return ctrl.Result{}, ctx.Err()
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("size the target of elasticworkers %q in namespace %q: %w", list.Items[i].Name, list.Items[i].Namespace, err))
		}
		if draining {
			next = drainInterval
		}
	}
	if err := errors.Join(errs...); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: next}, nil
}

// older orders ElasticWorkers by age, then by name.
func older(a, b schedulingv1alpha1.ElasticWorkers) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// keep sizes one target, and says whether workers drain. What is about to be done is written first: should the manager end after it, a
// step is late, and never made twice.
func (r *reconciler) keep(ctx context.Context, object *schedulingv1alpha1.ElasticWorkers, s *snapshot) (draining bool, err error) {
	if object.DeletionTimestamp != nil {
		return false, nil
	}
	t, refusal, err := r.target(ctx, object, s)
	if err != nil {
		return false, err
	}
	if refusal != nil {
		return false, r.refuse(ctx, object, *refusal)
	}
	if err := r.progress(ctx, object, t, s.lost); err != nil {
		return true, err
	}
	in := s.input(object, t, r.clock.Now())
	trace := &workers.Trace{}
	verdict := workers.Decide(in, trace)
	s.cluster.Claim(&in, t.sample(), verdict.Desired-in.Current)
	chosen := r.marksOf(object, verdict)
	if err := r.write(ctx, object, s.status(object, t, in, verdict, trace, chosen)); err != nil {
		return len(t.draining()) > 0, client.IgnoreNotFound(err)
	}
	if err := r.choose(ctx, object, t, chosen); err != nil {
		return true, err
	}
	return len(t.draining()) > 0, r.resize(ctx, object, t, verdict.Desired)
}
