package jobview

import (
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/phrase"
	"koordinator.sh/koord/decision/scheduling/kueueview"
)

// What may keep pods of a Job from running.
const (
	byKueue     = "Kueue"
	byQuota     = "ElasticQuota"
	byGang      = "PodGroup"
	byScheduler = "koord-scheduler"
)

// holders are who refuses a pod for reasons of other than its nodes.
var holders = map[finding.Code]string{
	finding.QuotaMaxExceeded: byQuota, finding.QuotaShareExceeded: byQuota, finding.QuotaNonPreemptibleExceeded: byQuota,
	finding.QuotaParentExceeded: byQuota, finding.QuotaUnknown: byQuota,
	finding.GangNotFound: byGang, finding.GangMembersMissing: byGang, finding.GangGroupMissing: byGang, finding.GangMemberRefused: byGang,
	finding.GangInvalid: byGang, finding.GangTopologyUnsatisfied: byGang, finding.GangTopologyInvalid: byGang,
	finding.KueueNotAdmitted: byKueue, finding.KueueUnresponsive: byKueue,
}

// Explain says what keeps a Job from running.
func Explain(in Input) *diagnosticsv1alpha1.JobExplanation {
	job := in.Job
	out := &diagnosticsv1alpha1.JobExplanation{
		ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: job.Name, CreationTimestamp: job.CreationTimestamp},
		Pods:       count(in.Pods), Queue: queue(in.Kueue),
	}
	switch suspended := job.Spec.Suspend != nil && *job.Spec.Suspend; {
	case ended(job, out):
	case suspended:
		suspend(in, out)
	case in.PodsUnknown:
		out.State, out.Summary = diagnosticsv1alpha1.JobStarting, "the Job may run; its pods could not be read"
	case out.Pods.Waiting > 0:
		wait(in, out)
	case out.Pods.Bound > 0:
		out.State, out.Summary = diagnosticsv1alpha1.JobRunning, phrase.Counted(int(out.Pods.Bound), "pod")+" on nodes, none waits"
	default:
		out.State, out.Summary = diagnosticsv1alpha1.JobStarting, "the Job may run; it has no pods yet"
	}
	return out
}

// ended answers of a Job that has ended, and says whether it has.
func ended(job *batchv1.Job, out *diagnosticsv1alpha1.JobExplanation) bool {
	for _, condition := range job.Status.Conditions {
		if condition.Status != corev1.ConditionTrue {
			continue
		}
		switch condition.Type {
		case batchv1.JobComplete:
			out.State, out.Summary = diagnosticsv1alpha1.JobComplete, "the Job is complete"
		case batchv1.JobFailed:
			out.State, out.Summary = diagnosticsv1alpha1.JobFailed, "the Job has failed"
			if condition.Message != "" {
				out.Summary += ": " + condition.Message
			}
		default:
			continue
		}
		return true
	}
	return false
}

// suspend answers of a Job that is suspended, by Kueue or by somebody else.
func suspend(in Input, out *diagnosticsv1alpha1.JobExplanation) {
	out.State = diagnosticsv1alpha1.JobSuspended
	if in.Kueue == nil {
		out.Summary = "spec.suspend is true; whether Kueue holds the Job is unknown"
		return
	}
	trace := &kueueview.Trace{}
	verdict := kueueview.Decide(*in.Kueue, trace)
	if !verdict.Held {
		out.Summary = "spec.suspend is true, and Kueue does not manage the Job"
		return
	}
	note := trace.Finding(verdict)
	out.HeldBy, out.Code, out.Summary, out.Findings = byKueue, note.Code, note.Message, []diagnosticsv1alpha1.Finding{note}
}

// wait answers of a Job of which pods have no node, by the explanation of one of them.
func wait(in Input, out *diagnosticsv1alpha1.JobExplanation) {
	out.State, out.Summary = diagnosticsv1alpha1.JobWaiting, phrase.Counted(int(out.Pods.Waiting), "pod")+" without a node"
	if in.Waiting == nil {
		return
	}
	status := &in.Waiting.Status
	out.WaitingPod, out.Code, out.HeldBy = in.Waiting.Name, status.Code, HolderOf(status)
	out.Summary += ": " + status.Summary
	out.Findings = status.Findings
	out.Incomplete = append(out.Incomplete, status.Incomplete...)
}

// HolderOf is what keeps a pod from running, by its explanation: Kueue, ElasticQuota, PodGroup, or koord-scheduler where no node takes it; empty
// where it does not wait, or for another reason.
func HolderOf(status *diagnosticsv1alpha1.PodExplanationStatus) string {
	holder := holders[finding.Code(status.Code)]
	if holder == "" && status.Verdict == diagnosticsv1alpha1.PodUnschedulable {
		return byScheduler
	}
	return holder
}

// queue is where Kueue has a Job; nil where it has nothing to do with it.
func queue(in *kueueview.Input) *diagnosticsv1alpha1.JobQueue {
	if in == nil || in.Workload == nil && in.Queue == "" {
		return nil
	}
	out := &diagnosticsv1alpha1.JobQueue{LocalQueue: in.Queue, ClusterQueue: in.ClusterQueue}
	if w := in.Workload; w != nil {
		out.Workload, out.LocalQueue, out.Admitted = w.Name, w.Spec.QueueName, w.Admitted()
		if w.Status.Admission != nil {
			out.ClusterQueue = w.Status.Admission.ClusterQueue
		}
	}
	return out
}

// QueueText says where Kueue has a Job, such as `Kueue admitted it to ClusterQueue "batch" from LocalQueue "jobs"`.
func QueueText(q *diagnosticsv1alpha1.JobQueue) string {
	parts := []string{"Kueue has not admitted it"}
	switch {
	case q.Workload == "":
		parts[0] = "Kueue has no Workload of it"
	case q.Admitted && q.ClusterQueue != "":
		parts[0] = fmt.Sprintf("Kueue admitted it to ClusterQueue %q", q.ClusterQueue)
	case q.Admitted:
		parts[0] = "Kueue admitted it"
	case q.ClusterQueue != "":
		parts[0] = fmt.Sprintf("Kueue has not admitted it to ClusterQueue %q", q.ClusterQueue)
	}
	if q.LocalQueue != "" {
		parts = append(parts, fmt.Sprintf("LocalQueue %q", q.LocalQueue))
	}
	if q.Workload != "" {
		parts = append(parts, fmt.Sprintf("Workload %q", q.Workload))
	}
	return strings.Join(parts, "; ")
}
