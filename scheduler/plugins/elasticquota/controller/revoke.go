package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/scheduling/quota"
	"koordinator.sh/koord/scheduler/state/quotas"
)

// revokeAll evicts pods of quotas that have used more than their runtime for longer than delayEvictTime.
func (c *Controller) revokeAll(ctx context.Context) error {
	now, delay := c.Now(), c.State.Settings().DelayEvictTime.Duration
	since := map[string]time.Time{}
	var errs []error
	c.State.Quotas(func(one quotas.Quota) bool {
		name := one.Spec.Name
		if extension.IsBuiltInQuota(name) || len(quota.Overused(one.Status.Used, limited(one))) == 0 {
			return true
		}
		since[name] = now
		if first, before := c.overused[name]; before {
			since[name] = first
		}
		if now.Sub(since[name]) >= delay {
			errs = append(errs, c.revoke(ctx, one))
		}
		return ctx.Err() == nil
	})
	c.overused = since
	c.forgetGone()
	return errors.Join(errs...)
}

// limited is the runtime of what the quota limits.
func limited(one quotas.Quota) quota.Amounts {
	var runtime quota.Amounts
	for _, limit := range one.Spec.Max {
		if value, found := one.Status.Runtime.Get(limit.Resource); found {
			runtime = append(runtime, quota.Amount{Resource: limit.Resource, Value: min(value, limit.Value)})
		}
	}
	return runtime
}

// revoke evicts by plan. Pods that are on their way out no longer count.
func (c *Controller) revoke(ctx context.Context, one quotas.Quota) error {
	used := one.Status.Used
	var pods []*corev1.Pod
	var candidates []quota.Candidate
	for _, pod := range c.State.Pods(one.Spec.Name) {
		if !pod.Holding.Assigned {
			continue
		}
		if c.evicted[pod.Pod.UID] != nil || pod.Pod.DeletionTimestamp != nil {
			used = used.Minus(pod.Holding.Request)
			continue
		}
		pods, candidates = append(pods, pod.Pod), append(candidates, pod.Candidate(c.Now()))
	}
	plan := quota.Revoke(used, limited(one), candidates)
	var errs []error
	for _, step := range plan.Steps {
		if !c.evictions.TryAccept() {
			break // the rest goes with the next pass
		}
		errs = append(errs, c.evict(ctx, pods[step.Candidate], one.Spec.Name, plan.Over))
	}
	return errors.Join(errs...)
}

// evict uses the Eviction API, so that disruption budgets hold: a pod that may not go now is tried again in the next pass.
func (c *Controller) evict(ctx context.Context, pod *corev1.Pod, name string, over quota.Amounts) error {
	eviction := &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}},
	}
	err := c.Pods.PolicyV1().Evictions(pod.Namespace).Evict(ctx, eviction)
	switch {
	case apierrors.IsTooManyRequests(err):
		klog.FromContext(ctx).V(2).Info("A disruption budget keeps a pod of an overused quota", "pod", klog.KObj(pod), "quota", name)
		return nil
	case apierrors.IsNotFound(err) || apierrors.IsConflict(err): // it is gone, or another pod has its name
	case err != nil:
		return fmt.Errorf("evict pod %s/%s of quota %s: %w", pod.Namespace, pod.Name, name, err)
	default:
		klog.FromContext(ctx).Info("Evicted a pod of an overused quota", "pod", klog.KObj(pod), "quota", name, "over", over.String())
		c.Recorder.Eventf(pod, nil, corev1.EventTypeWarning, "QuotaOverused", "Evicting", "%s: quota %s uses more than its runtime: %s too much", finding.QuotaOverused, name, over)
	}
	c.evicted[pod.UID] = pod
	return nil
}

// forgetGone drops pods that no longer count anywhere.
func (c *Controller) forgetGone() {
	for uid := range c.evicted {
		if !c.State.Counts(uid) {
			delete(c.evicted, uid)
		}
	}
}
