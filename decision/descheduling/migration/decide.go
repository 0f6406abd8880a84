package migration

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Verdict is the next step of a job. Its parts are applied in order: what is recorded in the spec, the status, then the action.
type Verdict struct {
	// PodUID is to be recorded in the reference to the pod; empty when it is recorded already.
	PodUID types.UID
	// ReservationRef is to be recorded in the options; nil when it is recorded already.
	ReservationRef *corev1.ObjectReference
	// Status of the job.
	Status schedulingv1alpha1.PodMigrationJobStatus
	// Action to take after the status is written.
	Action Action
	// RequeueAt is when the next step is due although nothing changed. It is zero only for a job that has ended and released what it
	// reserved.
	RequeueAt time.Time
}

// ActionKind is what is to be done.
type ActionKind string

const (
	// NoAction waits.
	NoAction ActionKind = ""
	// CreateReservation creates what NewReservation returns.
	CreateReservation ActionKind = "CreateReservation"
	// DeleteReservation deletes the Reservation, on the condition of its UID.
	DeleteReservation ActionKind = "DeleteReservation"
	// EvictPod evicts the pod, on the condition of its UID.
	EvictPod ActionKind = "EvictPod"
	// DetachPod takes the pod from its ReplicaSet, on the condition of its UID, so that it is replaced while it runs.
	DetachPod ActionKind = "DetachPod"
	// AttachPod gives the pod back, on the condition of its UID.
	AttachPod ActionKind = "AttachPod"
	// WithdrawRequest withdraws the EvictionRequest, on the condition of its UID.
	WithdrawRequest ActionKind = "WithdrawRequest"
)

// Action is what is to be done.
type Action struct {
	Kind ActionKind
	// UID of the object that is deleted, evicted, detached, attached or withdrawn.
	UID types.UID
	// Policy of an eviction.
	Policy EvictionPolicy
}

// actionRetry is the time after which an action is tried again when nothing shows that it had an effect.
const actionRetry = 3 * time.Second

// decision is one call of Decide.
type decision struct {
	Input
	verdict  Verdict
	deadline time.Time
	trace    *Trace
}

// Decide returns the next step of a job. A nil trace records nothing.
func Decide(in Input, trace *Trace) Verdict {
	trace.begin(in)
	d := &decision{Input: in, deadline: Deadline(in.Job, in.Args), trace: trace}
	if latest := Latest(in.Job); d.Now.Before(latest) {
		d.Now = latest
	}
	d.verdict.Status = *in.Job.Status.DeepCopy()
	if Finished(in.Job) {
		d.release()
		return d.verdict
	}
	if d.verdict.Status.Phase == "" {
		d.verdict.Status.Phase = schedulingv1alpha1.PodMigrationJobPending
	}
	d.passGates()
	return d.verdict
}

// passGates passes the gates until one holds the job, and ends the job when there are no more or when its time is over.
func (d *decision) passGates() {
	gates := d.gates()
	for i, gate := range gates {
		result := gate.pass(d)
		if !result.passed && result.phase == "" && !d.Now.Before(d.deadline) {
			result = d.timedOut(result)
		}
		d.trace.gate(d, gate, result)
		if result.passed {
			continue
		}
		d.trace.notReached(gates[i+1:])
		d.hold(gate, result)
		return
	}
	d.end(result{phase: schedulingv1alpha1.PodMigrationJobSucceeded, reason: schedulingv1alpha1.PodMigrationJobReasonComplete, message: d.success()})
	d.verdict.Status.Status = schedulingv1alpha1.PodMigrationJobReasonComplete
}

// hold records what the job waits for, or ends it.
func (d *decision) hold(gate gate, result result) {
	status := &d.verdict.Status
	if gate.condition != "" && !result.keepCondition {
		setCondition(status, schedulingv1alpha1.PodMigrationJobCondition{
			Type: gate.condition, Status: schedulingv1alpha1.PodMigrationJobConditionStatusFalse, Reason: result.reason, Message: result.message,
		}, d.Now)
	}
	status.Status = gate.name
	if result.phase != "" {
		d.end(result)
		return
	}
	status.Reason, status.Message = result.reason, result.message
	d.verdict.Action = result.action
	d.verdict.RequeueAt = d.deadline
	if !result.retry.IsZero() && result.retry.Before(d.deadline) {
		d.verdict.RequeueAt = result.retry
	}
}

func (d *decision) timedOut(waiting result) result {
	return result{
		phase: schedulingv1alpha1.PodMigrationJobFailed, reason: schedulingv1alpha1.PodMigrationJobReasonTimeout,
		message:       fmt.Sprintf("timed out after %s: %s", TTLOf(d.Job, d.Args), waiting.message),
		keepCondition: true,
	}
}

// end ends the job. What it reserved is released by the steps after: the reason is recorded first, so that a restart in between does not
// take the missing Reservation for the reason.
func (d *decision) end(result result) {
	status := &d.verdict.Status
	status.Phase, status.Reason, status.Message = result.phase, result.reason, result.message
	d.verdict.Action, d.verdict.PodUID, d.verdict.ReservationRef = Action{}, "", nil
	d.verdict.RequeueAt = d.Now
}

func (d *decision) success() string {
	if d.direct() {
		return "the pod is evicted"
	}
	if d.pending() {
		return fmt.Sprintf("the pod is scheduled to node %q", d.Pod.Node)
	}
	return fmt.Sprintf("pod %q replaces the evicted one on node %q", d.verdict.Status.PodRef.Name, d.verdict.Status.NodeName)
}

// release withdraws the request for the eviction, gives a detached pod back, and then deletes the Reservation of a job that has ended, if
// the job created it and it is no longer needed.
func (d *decision) release() {
	if d.withdrawn() || d.giveBack() {
		return
	}
	reservation := d.Reservation
	if reservation == nil || !reservation.Owned {
		return
	}
	if d.Job.Status.Phase == schedulingv1alpha1.PodMigrationJobSucceeded && reservation.bound() {
		return
	}
	d.verdict.RequeueAt = d.Now.Add(actionRetry)
	if !reservation.Terminating {
		d.verdict.Action = Action{Kind: DeleteReservation, UID: reservation.UID}
	}
}

// intended reports whether the eviction of the pod has been recorded.
func (d *decision) intended() bool {
	return Condition(&d.verdict.Status, schedulingv1alpha1.PodMigrationJobConditionEviction) != nil
}

// present reports whether the pod to move is there, and not another one of its name.
func (d *decision) present() bool {
	return d.Pod != nil && (PodUID(d.Job) == "" || d.Pod.UID == PodUID(d.Job))
}

// evicted reports whether the pod leaves, or left, after its eviction was recorded.
func (d *decision) evicted() bool {
	return d.intended() && (!d.present() || d.Pod.Terminating)
}

// direct reports whether the pod is evicted without a Reservation: the mode says so, or the pod has finished and needs no home. A
// Reservation is scheduled before the eviction is recorded, so that this stays known when the pod is gone.
func (d *decision) direct() bool {
	if ModeOf(d.Job, d.Args) == schedulingv1alpha1.PodMigrationJobModeEvictionDirectly {
		return true
	}
	if d.intended() {
		return !holds(&d.verdict.Status, schedulingv1alpha1.PodMigrationJobConditionReservationScheduled)
	}
	return d.present() && d.Pod.Finished && Condition(&d.verdict.Status, schedulingv1alpha1.PodMigrationJobConditionReservationCreated) == nil
}

// pending reports whether the job is for a pod that had no node when it started. The condition keeps that known.
func (d *decision) pending() bool {
	if Condition(&d.verdict.Status, schedulingv1alpha1.PodMigrationJobConditionPodScheduled) != nil {
		return true
	}
	started := Condition(&d.verdict.Status, schedulingv1alpha1.PodMigrationJobConditionReservationCreated) != nil
	return !started && !d.intended() && d.present() && d.Pod.Node == "" && !d.direct()
}

// policy by which the pod is evicted. That it is replaced first makes no difference to it.
func (d *decision) policy() EvictionPolicy {
	if policy := policyOf(d.Pod, d.Args); policy != Surge {
		return policy
	}
	return Eviction
}

// policyOf is the policy for a pod: that of its label, or that of the arguments.
func policyOf(pod *Pod, args *Args) EvictionPolicy {
	for _, policy := range policies {
		if pod.Policy == policy {
			return policy
		}
	}
	return args.EvictionPolicy
}

// aborted reports whether a user gave the job up.
func (d *decision) aborted() bool {
	return extension.IsMigrationAborted(d.Job.Annotations) || d.Job.DeletionTimestamp != nil
}
