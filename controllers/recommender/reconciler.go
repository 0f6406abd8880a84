package recommender

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
	"koordinator.sh/koord/decision/noderesource/recommend"
)

const (
	// interval is the time between two reads of usage, equal to the report interval.
	interval = time.Minute
	// checkpointInterval is the time between two writes of the checkpoint when nothing else changed.
	checkpointInterval = 10 * time.Minute
)

// reconciler looks at all Recommendations in each pass. Its workloads are used by one pass at a time.
type reconciler struct {
	// client reads from a cache of the pods that occupy a node, and live from the API server.
	client  client.Client
	live    client.Reader
	clock   clock.PassiveClock
	apply   bool
	options recommend.Options
	resizes recommend.ResizeOptions
	limiter limiter
	// runs of jobs; nil where nobody learns from them.
	runs      Runs
	workloads map[types.NamespacedName]*workload
	// found are the autoscalers that were read in this pass, by namespace.
	found map[string]recommend.Autoscalers
}

// limiter bounds the resizes.
type limiter interface {
	Wait(ctx context.Context) error
}

// Reconcile makes one pass. One Recommendation that cannot be kept does not hold up the others.
func (r *reconciler) Reconcile(ctx context.Context, _ reconcile.Request) (ctrl.Result, error) {
	var list analysisv1alpha1.RecommendationList
	if err := r.client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return ctrl.Result{}, fmt.Errorf("list recommendations: %w", err)
	}
	r.keepOnly(list.Items)
	r.found = map[string]recommend.Autoscalers{}
	if len(list.Items) == 0 {
		publishSavings(nil, nil)
		return ctrl.Result{}, nil
	}
	m := newMatcher(list.Items)
	targets, err := r.podsByTarget(ctx, m)
	if err != nil {
		return ctrl.Result{}, err
	}
	failed, err := r.failedByTarget(ctx, m)
	if err != nil {
		return ctrl.Result{}, err
	}
	reports, err := r.usages(ctx, targets)
	if err != nil {
		return ctrl.Result{}, err
	}
	var errs []error
	for i := range list.Items {
		key := client.ObjectKeyFromObject(&list.Items[i])
		if err := r.keep(ctx, &list.Items[i], targets[key], failed[key], reports); err != nil {
			if ctx.Err() != nil {
				return ctrl.Result{}, ctx.Err()
			}
			errs = append(errs, err)
		}
	}
	publishSavings(r.workloads, targets)
	if err := errors.Join(errs...); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: interval}, nil
}

// keepOnly forgets workloads whose Recommendation is gone, or is for another target by now.
func (r *reconciler) keepOnly(list []analysisv1alpha1.Recommendation) {
	present := make(map[types.NamespacedName]*analysisv1alpha1.Recommendation, len(list))
	for i := range list {
		present[client.ObjectKeyFromObject(&list[i])] = &list[i]
	}
	for key, w := range r.workloads {
		if now := present[key]; now == nil || now.UID != w.uid || now.Generation != w.generation {
			delete(r.workloads, key)
		}
	}
}

// keep brings one Recommendation up to date, by the pods of its target and by those that have failed.
func (r *reconciler) keep(ctx context.Context, old *analysisv1alpha1.Recommendation, pods, failed []*corev1.Pod, reports map[types.NamespacedName]usage) error {
	key, at := client.ObjectKeyFromObject(old), r.clock.Now()
	w := r.workloads[key]
	if w == nil {
		var errs []error
		if w, errs = newWorkload(old); len(errs) > 0 {
			klog.FromContext(ctx).Error(errors.Join(errs...), "Failed to read a checkpoint; its histograms start empty", "recommendation", key)
		}
		r.workloads[key] = w
	}
	w.learnShortages(append(shortagesOf(pods, time.Time{}), shortagesOf(failed, at.Add(-heedFailed))...))
	w.learn(pods, reports, countSample)
	r.predict(ctx, old, w, pods)
	w.advise(r.options, at, recommend.PerPod(pods))
	w.forget(at, r.resizes.CoolDown)
	plan, unplanned := r.plan(ctx, old, w, pods, at)
	// What is about to be resized is written first: should the resize or the manager fail after it, the budget was used up for
	// nothing, and never spent twice.
	for _, resize := range plan.Resizes {
		w.applied[resize.Pod.UID] = at.Truncate(time.Second)
	}
	if err := r.write(ctx, old, w, pods, at); err != nil {
		for _, resize := range plan.Resizes {
			delete(w.applied, resize.Pod.UID)
		}
		return errors.Join(unplanned, client.IgnoreNotFound(err))
	}
	return errors.Join(unplanned, r.resize(ctx, plan.Resizes))
}

// write patches the status if it changed. The error of a deleted Recommendation satisfies IsNotFound.
func (r *reconciler) write(ctx context.Context, old *analysisv1alpha1.Recommendation, w *workload, pods []*corev1.Pod, at time.Time) error {
	status, err := statusOf(old, w, pods, at)
	if err != nil {
		return fmt.Errorf("recommend for %q in namespace %q: %w", old.Name, old.Namespace, err)
	}
	due := w.dirty && at.Sub(w.written) >= checkpointInterval
	if !worthWriting(&old.Status, &status, due) {
		return nil
	}
	changed := old.DeepCopy()
	changed.Status = status
	err = r.client.Status().Patch(ctx, changed, client.MergeFrom(old), client.FieldOwner("koord-manager"))
	countWrite(err)
	if err != nil {
		return fmt.Errorf("patch the status of recommendation %q in namespace %q: %w", old.Name, old.Namespace, err)
	}
	w.written, w.dirty = at, false
	return nil
}
