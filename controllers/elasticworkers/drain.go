package elasticworkers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// asksAtOnce bounds the workers that are asked at the same time, so that some that hang do not hold up a pass.
const asksAtOnce = 16

// progress brings the workers that drain further: asks them to finish, and notes those that have.
func (r *reconciler) progress(ctx context.Context, object *schedulingv1alpha1.ElasticWorkers, t *target, lost func(node string) bool) error {
	group, groupContext := errgroup.WithContext(ctx)
	group.SetLimit(asksAtOnce)
	for _, w := range t.draining() {
		if w.mark.Done {
			w.message = "has finished"
			continue
		}
		group.Go(func() error { return r.advance(groupContext, object, w, lost(w.pod.Spec.NodeName)) })
	}
	return group.Wait()
}

// advance brings one worker further.
func (r *reconciler) advance(ctx context.Context, object *schedulingv1alpha1.ElasticWorkers, w *worker, lost bool) error {
	before := *w.mark
	w.mark.synchronize(r.clock.Now())
	if ended := without(w, lost, object.Spec.Drain); ended != "" {
		w.mark.Done, w.message = true, ended
		drains.WithLabelValues("finished").Inc()
	} else {
		r.talk(ctx, object.Spec.Drain.HTTP, w)
		if !w.mark.Done && !r.clock.Now().Before(w.mark.Deadline) {
			w.mark.Done = true
			drains.WithLabelValues("deadline").Inc()
			r.recorder.Eventf(object, w.pod, corev1.EventTypeWarning, finding.WorkersDrainLate.Name(), "DrainWorker", "[%s] worker %s did not finish in %s: %.500s",
				finding.WorkersDrainLate, w.pod.Name, w.mark.Deadline.Sub(w.mark.Since), w.message)
			w.message = "the deadline is over; " + w.message
		} else if w.mark.Done {
			drains.WithLabelValues("finished").Inc()
		}
	}
	if before == *w.mark {
		return nil
	}
	return r.remember(ctx, w)
}

// without says why a worker need not be asked, or has finished by itself; empty where it has to be asked.
func without(w *worker, lost bool, drain *schedulingv1alpha1.ElasticWorkersDrain) string {
	pod := w.pod
	switch {
	case drain == nil:
		return "there is no drain"
	case drain.HTTP == nil:
		return "it finishes while it terminates"
	case pod.Spec.NodeName == "" || pod.Status.PodIP == "" || pod.Status.Phase == corev1.PodPending:
		return "it does not run yet"
	case lost:
		return "its node is not ready"
	case slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool { return endedSince(&c, w.mark.Since) }):
		return "a container of it has ended"
	}
	return ""
}

// endedSince is true for a container that has ended since a time, and may have been started again.
func endedSince(c *corev1.ContainerStatus, since time.Time) bool {
	for _, state := range []*corev1.ContainerStateTerminated{c.State.Terminated, c.LastTerminationState.Terminated} {
		if state != nil && !state.FinishedAt.Time.Before(since) {
			return true
		}
	}
	return false
}

// talk asks a worker to finish, or whether it has.
func (r *reconciler) talk(ctx context.Context, drain *schedulingv1alpha1.ElasticWorkersDrainHTTP, w *worker) {
	if !w.mark.Asked {
		if err := r.asker.ask(ctx, drain, w.pod); err != nil {
			w.message = fmt.Sprintf("could not be asked: %.300s", err)
			return
		}
		w.mark.Asked, w.message = true, "was asked to finish"
		return
	}
	if drain.Done == nil {
		w.message = "was asked to finish, and no container has ended"
		return
	}
	answer, err := r.asker.state(ctx, drain, w.pod)
	switch {
	case err != nil:
		w.message = fmt.Sprintf("does not say whether it has finished: %.300s", err)
	case answer == drain.Done.Answer:
		w.mark.Done, w.message = true, "has finished"
	default:
		w.message = fmt.Sprintf("answers %.100q", answer)
	}
}

// resize scales the target to the desired size and the workers that have not finished yet. Workers that have finished, and that the target
// keeps because more are wanted again, are evicted, for they work no more.
func (r *reconciler) resize(ctx context.Context, object *schedulingv1alpha1.ElasticWorkers, t *target, desired int32) error {
	var finished []*worker
	busy := int32(0)
	for _, w := range t.draining() {
		if w.mark.Done {
			finished = append(finished, w)
		} else {
			busy++
		}
	}
	current := t.scale.Spec.Replicas
	size := max(desired+busy, min(current, object.Spec.MinReplicas))
	if size != current {
		err := r.scales.set(ctx, object.Spec.TargetRef, t.scale, size)
		countScaling(err)
		if apierrors.IsConflict(err) {
			return nil // somebody else changed the target: it is read again in the next pass
		}
		if err != nil {
			return fmt.Errorf("scale %s %q to %d: %w", object.Spec.TargetRef.Kind, object.Spec.TargetRef.Name, size, err)
		}
		r.recorder.Eventf(object, nil, corev1.EventTypeNormal, "Scaled", "SizeTarget", "Scaled %s %s from %d to %d: %.500s",
			object.Spec.TargetRef.Kind, object.Spec.TargetRef.Name, current, size, object.Status.Message)
	}
	leave := min(int(max(current-size, 0)), len(finished))
	return r.evict(ctx, finished[leave:])
}

// evict has workers replaced. Those that a PodDisruptionBudget keeps are tried again in the next pass.
func (r *reconciler) evict(ctx context.Context, surplus []*worker) error {
	var errs []error
	for _, w := range surplus {
		eviction := &policyv1.Eviction{
			ObjectMeta:    metav1.ObjectMeta{Namespace: w.pod.Namespace, Name: w.pod.Name},
			DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &w.pod.UID}},
		}
		err := r.client.SubResource("eviction").Create(ctx, w.pod.DeepCopy(), eviction)
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) && !apierrors.IsTooManyRequests(err) {
			errs = append(errs, fmt.Errorf("evict pod %q: %w", w.pod.Name, err))
		}
	}
	return errors.Join(errs...)
}
