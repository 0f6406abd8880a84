package migration

import (
	"time"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

const (
	// observeTimeout is how long an EvictionRequest may stay unobserved before the eviction API is used. Kubernetes 1.37 serves the
	// API without a controller for it, which has to be installed.
	observeTimeout = time.Minute
	// requestInterval is the time between two looks at an EvictionRequest, which is not watched: not every cluster serves it.
	requestInterval = 5 * time.Second
)

// request follows the EvictionRequest of the job. now is true when the pod is to be evicted now, by the policy that is returned: by an
// EvictionRequest that is to be created, or by the eviction API, where no EvictionRequest can be used. That is recorded first.
func (d *decision) request() (waiting result, policy EvictionPolicy, now bool) {
	const kind = schedulingv1alpha1.PodMigrationJobConditionEvictionRequest
	condition := Condition(&d.verdict.Status, kind)
	switch request := d.EvictionRequest; {
	case unavailable(condition):
		if request.open() {
			return d.withdraw(condition.Message), "", false
		}
		return result{}, Eviction, true
	case d.requestRefusal() != "":
		return d.noRequest(d.requestRefusal()), "", false
	case condition == nil:
		d.recordRequest(schedulingv1alpha1.PodMigrationJobConditionStatusFalse, schedulingv1alpha1.PodMigrationJobReasonRequesting,
			"requesting the eviction of the pod")
		out := d.evicting("requesting the eviction of the pod")
		out.retry = d.Now
		return out, "", false
	case request == nil && holds(&d.verdict.Status, kind):
		return d.requestFailed("EvictionRequest %q was deleted", EvictionRequestName(d.Job)), "", false
	case request == nil:
		return result{}, RequestEviction, true
	case !request.Owned:
		return d.requestFailed("EvictionRequest %q exists and is for another pod or by another requester", request.Name), "", false
	case request.Withdrawn:
		return d.requestFailed("EvictionRequest %q was withdrawn", request.Name), "", false
	case request.Failed != "":
		return d.requestFailed("EvictionRequest %q failed: %s", request.Name, request.Failed), "", false
	}
	return d.await(d.EvictionRequest), "", false
}

// await waits for the responders of the pod, or for a controller that asks them.
func (d *decision) await(request *EvictionRequest) result {
	const kind = schedulingv1alpha1.PodMigrationJobConditionEvictionRequest
	if !holds(&d.verdict.Status, kind) {
		d.recordRequest(schedulingv1alpha1.PodMigrationJobConditionStatusTrue, schedulingv1alpha1.PodMigrationJobReasonRequested,
			"the eviction of the pod is requested by EvictionRequest "+request.Name)
	}
	if request.Observed {
		out := d.evicting("waiting for a responder to evict the pod, as EvictionRequest " + request.Name + " requests")
		out.retry = d.Now.Add(requestInterval)
		return out
	}
	until := Condition(&d.verdict.Status, kind).LastTransitionTime.Add(observeTimeout)
	if !d.Now.Before(until) {
		return d.noRequest("no controller observed EvictionRequest " + request.Name + " within " + observeTimeout.String())
	}
	out := d.evicting("waiting for a controller to observe EvictionRequest " + request.Name)
	out.retry = until
	if next := d.Now.Add(requestInterval); next.Before(until) {
		out.retry = next
	}
	return out
}

// requestRefusal says why no EvictionRequest can be used for the pod; empty when one can.
func (d *decision) requestRefusal() string {
	if d.EvictionRequestRefusal == "" && d.Pod.Grouped {
		return "the pod belongs to a PodGroup, whose pods EvictionRequest does not support"
	}
	return d.EvictionRequestRefusal
}

// noRequest records that the eviction API is used, and why.
func (d *decision) noRequest(why string) result {
	message := "the eviction API is used: " + why
	d.recordRequest(schedulingv1alpha1.PodMigrationJobConditionStatusFalse, schedulingv1alpha1.PodMigrationJobReasonRequestUnavailable, message)
	out := d.evictionSays(schedulingv1alpha1.PodMigrationJobReasonEvicting, message)
	out.retry = d.Now
	return out
}

// withdraw withdraws the EvictionRequest, so that the pod is not requested to be evicted twice.
func (d *decision) withdraw(message string) result {
	out := d.evicting(message)
	out.action, out.retry = Action{Kind: WithdrawRequest, UID: d.EvictionRequest.UID}, d.Now.Add(actionRetry)
	return out
}

// requestFailed ends the job: nothing evicts its pod.
func (d *decision) requestFailed(format string, args ...any) result {
	out := fail(schedulingv1alpha1.PodMigrationJobReasonFailedEvict, format, args...)
	d.evictionSays(out.reason, out.message)
	out.keepCondition = true
	return out
}

// evictionSays waits with a reason and a message in the condition of the eviction, whose attempts stay.
func (d *decision) evictionSays(reason, message string) result {
	condition := *Condition(&d.verdict.Status, schedulingv1alpha1.PodMigrationJobConditionEviction)
	condition.Reason, condition.Message = reason, message
	setCondition(&d.verdict.Status, condition, d.Now)
	return d.evicting(message)
}

func (d *decision) recordRequest(status schedulingv1alpha1.PodMigrationJobConditionStatus, reason, message string) {
	setCondition(&d.verdict.Status, schedulingv1alpha1.PodMigrationJobCondition{
		Type: schedulingv1alpha1.PodMigrationJobConditionEvictionRequest, Status: status, Reason: reason, Message: message,
	}, d.Now)
}

// unavailable reports whether a condition records that the eviction API is used instead of an EvictionRequest.
func unavailable(condition *schedulingv1alpha1.PodMigrationJobCondition) bool {
	return condition != nil && condition.Reason == schedulingv1alpha1.PodMigrationJobReasonRequestUnavailable
}

// withdrawn withdraws the EvictionRequest of a job that ended before its pod was evicted; false when there is nothing to withdraw.
func (d *decision) withdrawn() bool {
	evicted := !d.present() || d.Pod.Terminating
	if d.Job.Status.Phase == schedulingv1alpha1.PodMigrationJobSucceeded || evicted || !d.EvictionRequest.open() {
		return false
	}
	d.verdict.Action = Action{Kind: WithdrawRequest, UID: d.EvictionRequest.UID}
	d.verdict.RequeueAt = d.Now.Add(actionRetry)
	return true
}
