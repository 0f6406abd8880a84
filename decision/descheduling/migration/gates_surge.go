package migration

import (
	"fmt"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// WantsSurge reports whether a pod is to be replaced before it is evicted, as far as its label and the arguments say, or is being.
func WantsSurge(job *schedulingv1alpha1.PodMigrationJob, pod *Pod, args *Args) bool {
	if Condition(&job.Status, schedulingv1alpha1.PodMigrationJobConditionSurge) != nil {
		return true
	}
	evicting := Condition(&job.Status, schedulingv1alpha1.PodMigrationJobConditionEviction) != nil
	return pod != nil && !evicting && policyOf(pod, args) == Surge
}

// ReplacedFirst reports whether a job that starts now replaces its pod before it evicts it. Where the pod is to be, and cannot be, refusal
// says why. That maxSurge is used up is no refusal: such a job waits.
func ReplacedFirst(in Input) (first bool, refusal string) {
	d := &decision{Input: in}
	d.verdict.Status = in.Job.Status
	if !d.present() || d.Pod.Terminating || d.direct() || d.pending() || !WantsSurge(d.Job, d.Pod, d.Args) {
		return false, ""
	}
	if refused := d.reservable(); refused.phase != "" {
		return false, refused.message
	}
	refusal = d.surgeRefusal()
	return refusal == "", refusal
}

// surging reports whether the pod is replaced before it is evicted. That is recorded before the pod is detached.
func (d *decision) surging() bool {
	return Condition(&d.verdict.Status, schedulingv1alpha1.PodMigrationJobConditionSurge) != nil
}

// detached reports whether the pod runs without its ReplicaSet, because of this job.
func (d *decision) detached() bool { return d.present() && d.Pod.DetachedBy == d.Job.UID }

// replaced reports whether the ReplicaSet replaces the pod although it may still run.
func (d *decision) replaced() bool {
	return d.surging() && (d.detached() || holds(&d.verdict.Status, schedulingv1alpha1.PodMigrationJobConditionSurge))
}

// committed reports whether a pod that replaces the one to move has been asked for: by its eviction, or by its detachment.
func (d *decision) committed() bool { return d.evicted() || d.replaced() }

// passSurge detaches the pod from its ReplicaSet, which then replaces it, where its Deployment allows that. The intent is recorded first.
// Elsewhere the pod is evicted first.
func (d *decision) passSurge() result {
	const condition = schedulingv1alpha1.PodMigrationJobConditionSurge
	switch {
	case holds(&d.verdict.Status, condition) && d.present() && !d.Pod.Terminating && !d.detached():
		return abort(schedulingv1alpha1.PodMigrationJobReasonSurgeUndone, "the pod was given back to its ReplicaSet while it was replaced")
	case d.replaced():
		return d.passed(condition, schedulingv1alpha1.PodMigrationJobReasonDetached, "the pod runs on while its ReplicaSet replaces it")
	}
	if !d.surging() {
		if refusal := d.surgeRefusal(); refusal != "" {
			if extension.MustReplaceFirst(d.Job.Annotations) {
				return forbidden(refusal)
			}
			return result{passed: true, message: "the pod is evicted before it is replaced: " + refusal}
		}
	}
	if paused, is := d.paused(); is {
		return paused
	}
	if d.Workload != nil && d.Workload.Surging >= d.Workload.MaxSurge && !d.surging() {
		out := waitFor(schedulingv1alpha1.PodMigrationJobReasonWaitForSurge, "%d pods of Deployment %q are being replaced, its maxSurge allows %d",
			d.Workload.Surging, d.Workload.Name, d.Workload.MaxSurge)
		out.keepCondition, out.retry = true, d.Now.Add(actionRetry)
		return out
	}
	out := waitFor(schedulingv1alpha1.PodMigrationJobReasonDetaching, "detaching the pod from its ReplicaSet, so that it is replaced before it is evicted")
	out.retry = d.Now
	if d.surging() {
		out.keepCondition, out.action, out.retry = true, Action{Kind: DetachPod, UID: d.Pod.UID}, d.Now.Add(actionRetry)
	}
	return out
}

// surgeRefusal says why the pod is not replaced before its eviction; empty when it can be.
func (d *decision) surgeRefusal() string {
	switch w := d.Workload; {
	case w == nil:
		return "it does not belong to a Deployment"
	case w.MaxSurge < 1:
		return fmt.Sprintf("the strategy of Deployment %q allows no pod more than its replicas", w.Name)
	case w.RollingOut:
		return fmt.Sprintf("Deployment %q is being rolled out", w.Name)
	case !d.Pod.Hashed:
		return "it has no label pod-template-hash"
	case d.Pod.Claims:
		return "it uses a PersistentVolumeClaim, which two pods may be unable to use at a time"
	}
	return ""
}

// startedToReplaceFirst begins the message of a job that would have to evict first, and must not.
const startedToReplaceFirst = "the job started because its pod would be replaced before it is evicted, which is not possible any more"

// mustNotEvict fails a job that was allowed to start because its pod is replaced first, and that would evict it first.
func (d *decision) mustNotEvict() result {
	if !extension.MustReplaceFirst(d.Job.Annotations) || d.replaced() {
		return result{}
	}
	return forbidden("its policy or mode changed")
}

// forbidden ends such a job without the condition of its gate: neither a replacement nor an eviction was begun.
func forbidden(why string) result {
	out := fail(schedulingv1alpha1.PodMigrationJobReasonForbiddenMigratePod, "%s: %s", startedToReplaceFirst, why)
	out.keepCondition = true
	return out
}

// giveBack attaches a pod again whose job ended before it was evicted; false when there is none. Its ReplicaSet then deletes one of the
// pods that are too many.
func (d *decision) giveBack() bool {
	if !d.detached() || d.Pod.Terminating || d.Job.Status.Phase == schedulingv1alpha1.PodMigrationJobSucceeded {
		return false
	}
	d.verdict.Action = Action{Kind: AttachPod, UID: d.Pod.UID}
	d.verdict.RequeueAt = d.Now.Add(actionRetry)
	return true
}
