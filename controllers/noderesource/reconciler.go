package noderesource

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"koordinator.sh/koord/controllers/sloconfig"
	"koordinator.sh/koord/decision/noderesource/overcommit"
)

const (
	// minRequeue is the minimum requeue delay, so that clock skew cannot make the queue spin.
	minRequeue = time.Second
	// conflictRetry is the requeue delay of a node that is newer than the cache.
	conflictRetry = 50 * time.Millisecond
)

type reconciler struct {
	client   client.Client
	config   *sloconfig.Store
	clock    clock.PassiveClock
	recorder events.EventRecorder
	// steady is how steady the measurements of each node are.
	steady *steadinessCache
	// predictions of what pods will use; nil where there are none.
	predictions *Predictions
	// extensions decide what else the node gets.
	extensions extensions
	// reported holds the causes of excess that events were sent for. Each node is reconciled by one worker at a time.
	reported sync.Map // node name -> []cause
	// unenforced holds the reasons for which agents do not enforce, as reported by events.
	unenforced sync.Map // node name -> string
	// written holds when this process last wrote each node: the cache may not have seen the write yet.
	written sync.Map // node name -> time.Time
}

// Reconcile computes what one node offers and writes it when that is due.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	next, err := r.reconcile(ctx, request.Name)
	if apierrors.IsConflict(err) {
		next, err = conflictRetry, nil
	}
	count(err)
	return reconcile.Result{RequeueAfter: next}, err
}

func (r *reconciler) reconcile(ctx context.Context, name string) (time.Duration, error) {
	config, loaded := r.config.Config()
	if !loaded {
		// Loading the configuration enqueues every node again.
		return 0, nil
	}
	in, err := read(ctx, r.client, name)
	if apierrors.IsNotFound(err) {
		r.written.Delete(name)
		r.reported.Delete(name)
		r.unenforced.Delete(name)
		r.steady.forget(name)
		forget(name)
		if r.predictions != nil {
			r.predictions.Forget(name)
		}
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	in.Strategy = config.Colocation(in.Node)
	in.Now = r.clock.Now()
	in.LastSync = r.lastSync(in.Node)
	if r.predictions != nil {
		in.Predictions = r.predictions.Of(in)
	}
	in.Steadiness = r.steady.of(name)
	result := overcommit.Calculate(in, nil)
	r.steady.set(name, result.Steadiness)
	publishInternal(name, result)
	found := overcommit.Excesses(in, result)
	publishExcess(name, found)
	r.reportExcess(in.Node, found)
	r.reportEnforcement(in.Node, result.NotEnforcing)
	sync := result.Sync(in)
	changes := newUpdate()
	changes.offer(in.Node, result, sync.Write)
	// What cannot be decided of the rest keeps no offer from being taken back.
	extra, incomplete := r.extensions.decide(ctx, in.Node, config, nil)
	r.extensions.publish(extra, incomplete)
	if incomplete == nil {
		changes.extend(in.Node, extra)
	}
	if body := changes.body(in.Node.ResourceVersion); body != nil {
		if err := r.write(ctx, name, body); err != nil {
			return 0, err
		}
		log.FromContext(ctx).V(4).Info("Updated node resources", "node", name, "reason", sync.Reason, "metric", result.Metric,
			"normalization", extra.Normalization, "amplification", extra.Amplification)
	}
	if incomplete != nil {
		return 0, incomplete
	}
	if sync.Next.IsZero() {
		return 0, nil
	}
	return max(sync.Next.Sub(r.clock.Now()), minRequeue), nil
}

// lastSync is when the node was last written, by this process or, as the managed fields say, by the one before.
func (r *reconciler) lastSync(node *corev1.Node) time.Time {
	last := overcommit.LastSync(node)
	if written, ok := r.written.Load(node.Name); ok {
		if at, isTime := written.(time.Time); isTime && at.After(last) {
			last = at
		}
	}
	return last
}

func (r *reconciler) write(ctx context.Context, name string, body []byte) error {
	target := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	err := r.client.Status().Patch(ctx, target, client.RawPatch(types.MergePatchType, body), client.FieldOwner(overcommit.FieldManager))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("patch status of node %q: %w", name, err)
	}
	r.written.Store(name, r.clock.Now())
	return nil
}
