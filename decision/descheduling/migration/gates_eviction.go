package migration

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Bounds of the time between two tries to evict a pod.
const (
	firstBackoff = 2 * time.Second
	maxBackoff   = 30 * time.Second
)

// assumedBackground is how long an eviction that another component carries out in the background is taken to be under way.
const assumedBackground = 10 * time.Minute

// reasonInBackground is the reason of an eviction that another component carries out in the background.
const reasonInBackground = "EvictingInBackground"

// passEviction evicts the pod and waits until it is gone. The intent is recorded first.
func (d *decision) passEviction() result {
	if (d.intended() || d.replaced()) && !d.present() {
		return d.passed(schedulingv1alpha1.PodMigrationJobConditionEviction, schedulingv1alpha1.PodMigrationJobReasonEvictComplete, "the pod is gone")
	}
	if d.evicted() || d.replaced() && d.Pod.Terminating {
		return d.evicting("waiting for the pod to terminate")
	}
	if refused := d.mustNotEvict(); refused.phase != "" {
		return refused
	}
	if paused, is := d.paused(); is {
		return paused
	}
	condition := Condition(&d.verdict.Status, schedulingv1alpha1.PodMigrationJobConditionEviction)
	if condition == nil {
		out := waitFor(schedulingv1alpha1.PodMigrationJobReasonEvicting, "evicting the pod")
		out.retry = d.Now
		return out
	}
	policy := d.policy()
	if policy == SoftEviction && d.Pod.SoftEvicted {
		return d.evicting("the pod is asked to leave by annotation " + softEvictionKey)
	}
	if by := d.Pod.EvictedBy; by != "" {
		return d.evicting(by + " evicts the pod in the background")
	}
	if policy == RequestEviction {
		waiting, by, now := d.request()
		if !now {
			return waiting
		}
		policy = by
	}
	if retry := nextTry(condition); d.Now.Before(retry) {
		out := d.evicting(condition.Message)
		out.reason, out.retry = condition.Reason, retry
		return out
	}
	out := d.evicting(condition.Message)
	out.reason, out.action, out.retry = condition.Reason, Action{Kind: EvictPod, UID: d.Pod.UID, Policy: policy}, d.Now.Add(actionRetry)
	return out
}

// evicting waits without a change of the condition, which EvictionTried writes.
func (d *decision) evicting(message string) result {
	out := waitFor(schedulingv1alpha1.PodMigrationJobReasonEvicting, "%s", message)
	out.keepCondition = true
	return out
}

// nextTry is when the pod may be evicted again.
func nextTry(condition *schedulingv1alpha1.PodMigrationJobCondition) time.Time {
	if condition.Attempts <= 0 {
		return time.Time{}
	}
	if condition.Reason == reasonInBackground {
		return condition.LastProbeTime.Add(assumedBackground)
	}
	backoff := maxBackoff
	if shift := condition.Attempts - 1; shift < 5 {
		backoff = min(firstBackoff<<shift, maxBackoff)
	}
	return condition.LastProbeTime.Add(backoff)
}

// Attempt is what became of one try to evict a pod.
type Attempt struct {
	// Accepted is true when the pod was evicted, deleted or annotated, or its eviction requested.
	Accepted bool
	// Disrupted is true when the API server answered 429: a PodDisruptionBudget does not allow the eviction at present.
	Disrupted bool
	// Background is true when the answer 429 says that another component evicts the pod in the background.
	Background bool
	// Policy by which it was tried.
	Policy EvictionPolicy
	// Message of a refusal.
	Message string
}

// EvictionTried returns the status of a job after a try to evict its pod.
func EvictionTried(job *schedulingv1alpha1.PodMigrationJob, attempt Attempt, now time.Time) schedulingv1alpha1.PodMigrationJobStatus {
	status := *job.Status.DeepCopy()
	condition := Condition(&status, schedulingv1alpha1.PodMigrationJobConditionEviction)
	if condition == nil {
		return status
	}
	if latest := Latest(job); now.Before(latest) {
		now = latest
	}
	condition.Attempts++
	condition.LastProbeTime = metav1.NewTime(now.Truncate(time.Second))
	condition.Reason = schedulingv1alpha1.PodMigrationJobReasonEvicting
	switch {
	case attempt.Accepted && attempt.Policy == RequestEviction:
		condition.Message = "the eviction is requested by EvictionRequest " + EvictionRequestName(job)
	case attempt.Accepted:
		condition.Message = "the eviction is accepted"
	case attempt.Background:
		condition.Reason = reasonInBackground
		condition.Message = "another component evicts the pod in the background: " + attempt.Message
	case attempt.Disrupted:
		condition.Message = fmt.Sprintf("the eviction was refused, attempt %d: %s", condition.Attempts, attempt.Message)
	default:
		condition.Reason = schedulingv1alpha1.PodMigrationJobReasonFailedEvict
		condition.Message = fmt.Sprintf("the eviction failed, attempt %d: %s", condition.Attempts, attempt.Message)
	}
	if request := Condition(&status, schedulingv1alpha1.PodMigrationJobConditionEvictionRequest); unavailable(request) {
		condition.Message += "; " + request.Message
	}
	status.Reason, status.Message = condition.Reason, condition.Message
	return status
}

// ReservationRefused returns the status of a job whose Reservation the API server does not accept.
func ReservationRefused(job *schedulingv1alpha1.PodMigrationJob, message string, now time.Time) schedulingv1alpha1.PodMigrationJobStatus {
	status := *job.Status.DeepCopy()
	if latest := Latest(job); now.Before(latest) {
		now = latest
	}
	status.Phase, status.Reason, status.Message = schedulingv1alpha1.PodMigrationJobFailed, schedulingv1alpha1.PodMigrationJobReasonFailedCreateReservation, message
	setCondition(&status, schedulingv1alpha1.PodMigrationJobCondition{
		Type: schedulingv1alpha1.PodMigrationJobConditionReservationCreated, Status: schedulingv1alpha1.PodMigrationJobConditionStatusFalse,
		Reason: status.Reason, Message: message,
	}, now)
	return status
}

// passBound waits until a pod uses the Reservation.
func (d *decision) passBound() result {
	if d.verdict.Status.PodRef != nil {
		return result{passed: true, message: fmt.Sprintf("pod %q uses the reservation", d.verdict.Status.PodRef.Name)}
	}
	if len(d.Reservation.Users) == 0 {
		out := waitFor(schedulingv1alpha1.PodMigrationJobReasonWaitForPodBindReservation, "waiting for the pod that replaces the evicted one to use reservation %q", d.Reservation.Name)
		setCondition(&d.verdict.Status, schedulingv1alpha1.PodMigrationJobCondition{
			Type: schedulingv1alpha1.PodMigrationJobConditionReservationPodBoundReservation, Status: schedulingv1alpha1.PodMigrationJobConditionStatusFalse,
			Reason: out.reason, Message: out.message,
		}, d.Now)
		return out
	}
	d.verdict.Status.PodRef = referenceTo(d.Reservation.Users[0])
	message := fmt.Sprintf("pod %q uses the reservation", d.verdict.Status.PodRef.Name)
	d.passed(schedulingv1alpha1.PodMigrationJobConditionReservationPodBoundReservation, "", message)
	return d.passed(schedulingv1alpha1.PodMigrationJobConditionReservationBound, "", message)
}

// passReady waits until the pod that uses the Reservation is ready.
func (d *decision) passReady() result {
	ref := d.verdict.Status.PodRef
	switch {
	case d.Replacement == nil || d.Replacement.Terminating || d.Replacement.UID != ref.UID:
		return fail(schedulingv1alpha1.PodMigrationJobReasonMissingPod, "pod %q, which replaced the evicted one, is deleted", ref.Namespace+"/"+ref.Name)
	case !d.Replacement.Ready:
		return waitFor(schedulingv1alpha1.PodMigrationJobReasonWaitForBoundPodReady, "waiting for pod %q to become ready", ref.Namespace+"/"+ref.Name)
	}
	return d.passed(schedulingv1alpha1.PodMigrationJobConditionBoundPodReady, "", fmt.Sprintf("pod %q is ready", ref.Name))
}
