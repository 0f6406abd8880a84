package migration

import (
	"fmt"
	"slices"
	"time"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// gate is one thing that must be so before the job goes on.
type gate struct {
	name string
	// condition of the status that shows it; empty for none.
	condition schedulingv1alpha1.PodMigrationJobConditionType
	pass      func(*decision) result
}

// result of a gate: passed, or what the job waits for, or how it ends.
type result struct {
	passed bool
	// phase in which the job ends; empty when it waits.
	phase           schedulingv1alpha1.PodMigrationJobPhase
	reason, message string
	action          Action
	// retry is when the gate is worth another look although nothing changed; zero for the deadline.
	retry time.Time
	// keepCondition leaves the condition as it is.
	keepCondition bool
}

var (
	abortGate       = gate{name: "Abort", pass: (*decision).passAbort}
	arbitrationGate = gate{name: "Arbitration", pass: (*decision).passArbitration}
	podGate         = gate{name: "Pod", pass: (*decision).passPod}
	createdGate     = conditionGate(schedulingv1alpha1.PodMigrationJobConditionReservationCreated, (*decision).passCreated)
	scheduledGate   = conditionGate(schedulingv1alpha1.PodMigrationJobConditionReservationScheduled, (*decision).passScheduled)
	nodeGate        = gate{name: "TargetNode", pass: (*decision).passNode}
	surgeGate       = conditionGate(schedulingv1alpha1.PodMigrationJobConditionSurge, (*decision).passSurge)
	evictionGate    = conditionGate(schedulingv1alpha1.PodMigrationJobConditionEviction, (*decision).passEviction)
	boundGate       = conditionGate(schedulingv1alpha1.PodMigrationJobConditionReservationBound, (*decision).passBound)
	readyGate       = conditionGate(schedulingv1alpha1.PodMigrationJobConditionBoundPodReady, (*decision).passReady)
	podScheduled    = conditionGate(schedulingv1alpha1.PodMigrationJobConditionPodScheduled, (*decision).passPodScheduled)
)

func conditionGate(condition schedulingv1alpha1.PodMigrationJobConditionType, pass func(*decision) result) gate {
	return gate{name: string(condition), condition: condition, pass: pass}
}

// gates of the job, in order.
func (d *decision) gates() []gate {
	switch {
	case d.direct():
		return []gate{abortGate, arbitrationGate, podGate, evictionGate}
	case d.pending():
		return []gate{abortGate, arbitrationGate, podGate, createdGate, podScheduled}
	case d.surging():
		return []gate{abortGate, arbitrationGate, podGate, createdGate, scheduledGate, nodeGate, surgeGate, boundGate, readyGate, evictionGate}
	case d.present() && WantsSurge(d.Job, d.Pod, d.Args):
		return []gate{abortGate, arbitrationGate, podGate, createdGate, scheduledGate, nodeGate, surgeGate, evictionGate, boundGate, readyGate}
	}
	return []gate{abortGate, arbitrationGate, podGate, createdGate, scheduledGate, nodeGate, evictionGate, boundGate, readyGate}
}

func waitFor(reason, format string, args ...any) result {
	return result{reason: reason, message: fmt.Sprintf(format, args...)}
}

func fail(reason, format string, args ...any) result {
	return result{phase: schedulingv1alpha1.PodMigrationJobFailed, reason: reason, message: fmt.Sprintf(format, args...)}
}

func abort(reason, format string, args ...any) result {
	return result{phase: schedulingv1alpha1.PodMigrationJobAborted, reason: reason, message: fmt.Sprintf(format, args...)}
}

// passed records the condition of a gate that is passed.
func (d *decision) passed(condition schedulingv1alpha1.PodMigrationJobConditionType, reason, message string) result {
	setCondition(&d.verdict.Status, schedulingv1alpha1.PodMigrationJobCondition{
		Type: condition, Status: schedulingv1alpha1.PodMigrationJobConditionStatusTrue, Reason: reason, Message: message,
	}, d.Now)
	return result{passed: true, message: message}
}

func (d *decision) passAbort() result {
	if d.aborted() {
		return abort(schedulingv1alpha1.PodMigrationJobReasonAbortedByUser, "the job was aborted by a user")
	}
	return result{passed: true}
}

// paused holds back what would start something new. What was started before is still watched.
func (d *decision) paused() (result, bool) {
	if !d.Job.Spec.Paused {
		return result{}, false
	}
	paused := waitFor(schedulingv1alpha1.PodMigrationJobReasonPaused, "the job is paused; its ttl ends at %s", d.deadline.UTC().Format(time.RFC3339))
	paused.keepCondition = true
	return paused, true
}

func (d *decision) passArbitration() result {
	if d.Job.Status.Phase == schedulingv1alpha1.PodMigrationJobRunning {
		return result{passed: true}
	}
	if d.Args.DryRun {
		return waitFor(schedulingv1alpha1.PodMigrationJobReasonWaitForArbitration, "the descheduler runs with dryRun: no job is started")
	}
	if paused, is := d.paused(); is {
		return paused
	}
	if !extension.HasPassedArbitration(d.Job.Annotations) {
		return waitFor(schedulingv1alpha1.PodMigrationJobReasonWaitForArbitration, "%s", d.arbitration())
	}
	return result{passed: true}
}

// arbitration says what the job waits for, as the arbitrator wrote it on the job.
func (d *decision) arbitration() string {
	const text = "waiting for the arbitrator to let the job start"
	wait, err := extension.GetArbitrationWait(d.Job.Annotations)
	if err != nil || wait == nil || wait.Gate == "" {
		return text
	}
	out := text + ": " + wait.Gate
	if wait.Message != "" {
		out += ", " + wait.Message
	}
	if wait.Until != nil {
		out += ", until " + wait.Until.UTC().Format(time.RFC3339)
	}
	return out
}

// passPod looks whether the pod can be moved, and starts the job.
func (d *decision) passPod() result {
	ref := d.Job.Spec.PodRef
	if ref == nil || ref.Namespace == "" || ref.Name == "" {
		return fail(schedulingv1alpha1.PodMigrationJobReasonInvalidPodRef, "podRef must have a namespace and a name")
	}
	if d.intended() && ref.UID == "" {
		return fail(schedulingv1alpha1.PodMigrationJobReasonInvalidPodRef, "podRef lost the UID of the pod that is evicted")
	}
	if d.committed() {
		return result{passed: true}
	}
	started := Condition(&d.verdict.Status, schedulingv1alpha1.PodMigrationJobConditionReservationCreated) != nil
	switch pod := d.Pod; {
	case pod == nil:
		return fail(schedulingv1alpha1.PodMigrationJobReasonMissingPod, "pod %q does not exist", ref.Namespace+"/"+ref.Name)
	case !d.present():
		return fail(schedulingv1alpha1.PodMigrationJobReasonMissingPod, "pod %q has UID %q, the job is for the one with UID %q", ref.Namespace+"/"+ref.Name, pod.UID, ref.UID)
	case pod.Terminating:
		return fail(schedulingv1alpha1.PodMigrationJobReasonMissingPod, "pod %q is being deleted already", ref.Namespace+"/"+ref.Name)
	case pod.Finished && !d.direct() && !d.intended():
		return fail(schedulingv1alpha1.PodMigrationJobReasonMissingPod, "pod %q has finished", ref.Namespace+"/"+ref.Name)
	case !started && !d.direct():
		if refused := d.reservable(); refused.phase != "" {
			return refused
		}
	}
	d.verdict.Status.Phase = schedulingv1alpha1.PodMigrationJobRunning
	if PodUID(d.Job) == "" {
		d.verdict.PodUID = d.Pod.UID
	}
	if d.pending() && Condition(&d.verdict.Status, schedulingv1alpha1.PodMigrationJobConditionPodScheduled) == nil {
		setCondition(&d.verdict.Status, schedulingv1alpha1.PodMigrationJobCondition{
			Type: schedulingv1alpha1.PodMigrationJobConditionPodScheduled, Status: schedulingv1alpha1.PodMigrationJobConditionStatusFalse,
			Reason: schedulingv1alpha1.PodMigrationJobReasonWaitForPodScheduled,
		}, d.Now)
	}
	return result{passed: true}
}

// reservable refuses pods for which a Reservation would be no home.
func (d *decision) reservable() result {
	if !slices.Contains(d.Args.SchedulerNames, d.Pod.Scheduler) {
		return fail(schedulingv1alpha1.PodMigrationJobReasonForbiddenMigratePod,
			"scheduler %q of the pod does not know Reservations: it is not one of schedulerNames; mode EvictDirectly evicts without one", d.Pod.Scheduler)
	}
	if !d.Pod.Controlled && !d.pending() {
		return fail(schedulingv1alpha1.PodMigrationJobReasonForbiddenMigratePod, "the pod has no controller that would replace it; mode EvictDirectly evicts it anyway")
	}
	return result{}
}
