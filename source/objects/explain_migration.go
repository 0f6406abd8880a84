package objects

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/arbitration"
	"koordinator.sh/koord/decision/descheduling/migration"
)

// MigrationJobSnapshot is what is known of a PodMigrationJob. Objects that do not exist are nil.
type MigrationJobSnapshot struct {
	Job *schedulingv1alpha1.PodMigrationJob
	// Args of the MigrationController, with defaults.
	Args        *migration.Args
	Pod         *corev1.Pod
	Reservation *schedulingv1alpha1.Reservation
	// Node of the Reservation, and Replacement, the pod that uses it.
	Node        *corev1.Node
	Replacement *corev1.Pod
	// Workload is the Deployment of a pod that is to be replaced before it is evicted.
	Workload *migration.Workload
	// EvictionRequest of the job, where the next step depends on it, and EvictionRequestRefusal, why none can be used.
	EvictionRequest        *migration.EvictionRequest
	EvictionRequestRefusal string
	// Jobs are all jobs; JobsSeen is false when they could not be listed.
	Jobs     []schedulingv1alpha1.PodMigrationJob
	JobsSeen bool
	// Unseen is true when one of the objects could not be read: it may exist, so that nothing is decided without it.
	Unseen bool
	// Missing names what could not be read.
	Missing []string
	Now     time.Time
}

// ReplacementOf names the pod that uses the Reservation of a job; nil when none does.
func ReplacementOf(job *schedulingv1alpha1.PodMigrationJob, reservation *schedulingv1alpha1.Reservation) *corev1.ObjectReference {
	switch {
	case job.Status.PodRef != nil:
		return job.Status.PodRef
	case reservation != nil && len(reservation.Status.CurrentOwners) > 0:
		return &reservation.Status.CurrentOwners[0]
	}
	return nil
}

// ExplainMigration says how far a job is, by the decision that koord-descheduler takes.
func ExplainMigration(in MigrationJobSnapshot) *diagnosticsv1alpha1.MigrationExplanation {
	out := recordedMigration(&in)
	if in.Unseen && !migration.Finished(in.Job) {
		out.Summary = "the gates are unknown: not every object of the job could be read"
		return out
	}
	var trace migration.Trace
	verdict := migration.Decide(migration.Input{
		Job: in.Job, Args: in.Args, Now: in.Now,
		World: migration.World{
			Pod: migration.PodOf(in.Pod), Reservation: migration.ReservationOf(in.Reservation, in.Job),
			Node: migration.NodeOf(in.Node), Replacement: migration.ReplacementOf(in.Replacement), Workload: in.Workload,
			EvictionRequest: in.EvictionRequest, EvictionRequestRefusal: in.EvictionRequestRefusal,
		},
	}, &trace)
	out.Summary = trace.Message(verdict)
	for i := range trace.Gates {
		out.Gates = append(out.Gates, explainedGate(&trace.Gates[i]))
	}
	if !in.Unseen {
		out.Next = nextStep(&in, &verdict)
	}
	return out
}

// recordedMigration is what the objects say themselves.
func recordedMigration(in *MigrationJobSnapshot) *diagnosticsv1alpha1.MigrationExplanation {
	job := in.Job
	out := &diagnosticsv1alpha1.MigrationExplanation{
		ObjectMeta: metav1.ObjectMeta{Name: job.Name, UID: job.UID},
		Mode:       string(migration.ModeOf(job, in.Args)), Phase: string(job.Status.Phase), Reason: job.Status.Reason, Message: job.Status.Message,
		Paused: job.Spec.Paused, TargetNode: job.Status.NodeName, CreatedAt: job.CreationTimestamp, Deadline: metav1.NewTime(migration.Deadline(job, in.Args)),
		Arbitration: diagnosticsv1alpha1.MigrationArbitration{
			Passed:     extension.HasPassedArbitration(job.Annotations) || arbitration.StateOf(job) != arbitration.Pending,
			Annotation: extension.AnnotationPassedArbitration,
		},
		Conditions: recordedConditions(job), Incomplete: in.Missing,
	}
	if out.Phase == "" {
		out.Phase = string(schedulingv1alpha1.PodMigrationJobPending)
	}
	if ref := job.Spec.PodRef; ref != nil {
		out.Pod.Namespace, out.Pod.Name = ref.Namespace, ref.Name
	}
	if in.Pod != nil && (migration.PodUID(job) == "" || migration.PodUID(job) == in.Pod.UID) {
		out.Pod.NodeName = in.Pod.Spec.NodeName
	}
	if in.Reservation != nil {
		out.Reservation = in.Reservation.Name
		if out.TargetNode == "" {
			out.TargetNode = in.Reservation.Status.NodeName
		}
	}
	if ref := ReplacementOf(job, in.Reservation); ref != nil {
		out.Replacement = ref.Namespace + "/" + ref.Name
	}
	if in.JobsSeen {
		out.OtherJobs = otherJobs(in)
	}
	return out
}

func recordedConditions(job *schedulingv1alpha1.PodMigrationJob) []diagnosticsv1alpha1.MigrationCondition {
	var out []diagnosticsv1alpha1.MigrationCondition
	for i := range job.Status.Conditions {
		c := &job.Status.Conditions[i]
		out = append(out, diagnosticsv1alpha1.MigrationCondition{
			Type: string(c.Type), Status: string(c.Status), Reason: c.Reason, Message: c.Message, Attempts: c.Attempts,
			LastTransitionTime: recordedTime(c.LastTransitionTime.Time),
		})
	}
	return out
}

func otherJobs(in *MigrationJobSnapshot) *diagnosticsv1alpha1.MigrationCount {
	out := &diagnosticsv1alpha1.MigrationCount{}
	for i := range in.Jobs {
		if in.Jobs[i].UID == in.Job.UID {
			continue
		}
		switch arbitration.StateOf(&in.Jobs[i]) {
		case arbitration.Pending:
			out.Pending++
		case arbitration.Running:
			out.Running++
		}
	}
	return out
}

func explainedGate(gate *migration.Gate) diagnosticsv1alpha1.MigrationGate {
	return diagnosticsv1alpha1.MigrationGate{
		Name: gate.Name, State: diagnosticsv1alpha1.MigrationGateState(gate.State), Reason: gate.Reason, Message: gate.Message, Attempts: gate.Attempts,
		Since: recordedTime(gate.Since), Deadline: recordedTime(gate.Deadline), RetryAt: recordedTime(gate.RetryAt),
	}
}

// nextStep says what koord-descheduler does next.
func nextStep(in *MigrationJobSnapshot, verdict *migration.Verdict) *diagnosticsv1alpha1.MigrationStep {
	step := &diagnosticsv1alpha1.MigrationStep{Action: string(verdict.Action.Kind)}
	ended := migration.Finished(&schedulingv1alpha1.PodMigrationJob{Status: verdict.Status})
	switch {
	case verdict.Action.Kind == migration.CreateReservation:
		step.Message = fmt.Sprintf("create reservation %q", migration.ReservationName(in.Job))
	case verdict.Action.Kind == migration.EvictPod:
		step.Message = fmt.Sprintf("evict pod %q, by policy %s", in.Pod.Namespace+"/"+in.Pod.Name, verdict.Action.Policy)
	case verdict.Action.Kind == migration.WithdrawRequest:
		step.Message = fmt.Sprintf("withdraw EvictionRequest %q", in.EvictionRequest.Name)
	case verdict.Action.Kind == migration.DeleteReservation:
		step.Message = fmt.Sprintf("delete reservation %q, which the job created", in.Reservation.Name)
	case ended && migration.Finished(in.Job) && verdict.RequeueAt.IsZero():
		step.Message = "nothing: the job has ended"
	case ended && migration.Finished(in.Job):
		step.Message, step.At = "wait for the deletion of the reservation", recordedTime(verdict.RequeueAt)
	case ended:
		step.Message = fmt.Sprintf("end the job as %s, reason %s", verdict.Status.Phase, verdict.Status.Reason)
	case !verdict.RequeueAt.After(in.Now):
		step.Message = "record the step in the status and go on"
	default:
		step.Message, step.At = "look at the job again when one of its objects changes", recordedTime(verdict.RequeueAt)
	}
	return step
}

func recordedTime(at time.Time) *metav1.Time {
	if at.IsZero() {
		return nil
	}
	return &metav1.Time{Time: at}
}
