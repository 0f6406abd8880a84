package jobview

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/scheduling/kueueview"
)

var created = time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)

func pod(name, node string, phase corev1.PodPhase, age time.Duration) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name, CreationTimestamp: metav1.NewTime(created.Add(-age))},
		Spec:       corev1.PodSpec{NodeName: node}, Status: corev1.PodStatus{Phase: phase},
	}
}

func TestWhatHoldsAJob(t *testing.T) {
	job := func(edit func(*batchv1.Job)) *batchv1.Job {
		out := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "train"}}
		if edit != nil {
			edit(out)
		}
		return out
	}
	suspended := func(j *batchv1.Job) { j.Spec.Suspend = new(true) }
	ending := func(is batchv1.JobConditionType, message string) func(*batchv1.Job) {
		return func(j *batchv1.Job) {
			j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobSuspended, Status: corev1.ConditionTrue}, {Type: is, Status: corev1.ConditionTrue, Message: message}}
		}
	}
	queued := func(admitted bool) *kueueview.Input {
		w := &kueueview.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "job-train"}, Spec: kueueview.WorkloadSpec{QueueName: "jobs"}}
		if admitted {
			w.Status.Admission = &kueueview.Admission{ClusterQueue: "batch"}
			w.Status.Conditions = []metav1.Condition{{Type: "Admitted", Status: metav1.ConditionTrue}}
		}
		return &kueueview.Input{Kind: kueueview.Job, Withheld: !admitted, Served: true, Queue: "jobs", ClusterQueue: "batch", Workload: w}
	}
	refused := func(verdict diagnosticsv1alpha1.PodVerdict, code finding.Code) *diagnosticsv1alpha1.PodExplanation {
		return &diagnosticsv1alpha1.PodExplanation{
			ObjectMeta: metav1.ObjectMeta{Name: "train-0"},
			Status:     diagnosticsv1alpha1.PodExplanationStatus{Verdict: verdict, Code: string(code), Summary: "why"},
		}
	}
	waiting := []corev1.Pod{pod("train-0", "", corev1.PodPending, 0), pod("train-1", "node-1", corev1.PodRunning, 0)}
	tests := map[string]struct {
		in                    Input
		wantState             diagnosticsv1alpha1.JobState
		wantHeldBy            string
		wantCode              finding.Code
		wantSummary, wantText string
	}{
		"Kueue has not admitted it": {
			Input{Job: job(suspended), Kueue: queued(false)}, diagnosticsv1alpha1.JobSuspended, byKueue, finding.KueueNotAdmitted,
			`Kueue has not reserved quota of ClusterQueue "batch" for Workload "job-train"`,
			`Kueue has not admitted it to ClusterQueue "batch"; LocalQueue "jobs"; Workload "job-train"`,
		},
		"Kueue has not seen it": {
			Input{Job: job(suspended), Kueue: &kueueview.Input{Kind: kueueview.Job, Withheld: true, Served: true, Queue: "jobs"}},
			diagnosticsv1alpha1.JobSuspended, byKueue, finding.KueueUnresponsive,
			"Kueue has made no Workload for the Job: it is not running, or does not manage this namespace or kind", `Kueue has no Workload of it; LocalQueue "jobs"`,
		},
		"somebody suspended it": {
			Input{Job: job(suspended), Kueue: &kueueview.Input{Kind: kueueview.Job, Withheld: true, Served: true}}, diagnosticsv1alpha1.JobSuspended, "", "",
			"spec.suspend is true, and Kueue does not manage the Job", "",
		},
		"Workloads could not be read": {
			Input{Job: job(suspended)}, diagnosticsv1alpha1.JobSuspended, "", "", "spec.suspend is true; whether Kueue holds the Job is unknown", "",
		},
		"Kueue admitted it, and its quota refuses a pod": {
			Input{Job: job(nil), Kueue: queued(true), Pods: waiting, Waiting: refused(diagnosticsv1alpha1.PodUnschedulable, finding.QuotaMaxExceeded)},
			diagnosticsv1alpha1.JobWaiting, byQuota, finding.QuotaMaxExceeded, "1 pod without a node: why",
			`Kueue admitted it to ClusterQueue "batch"; LocalQueue "jobs"; Workload "job-train"`,
		},
		"its gang is not whole": {
			Input{Job: job(nil), Pods: waiting, Waiting: refused(diagnosticsv1alpha1.PodGated, finding.GangMembersMissing)},
			diagnosticsv1alpha1.JobWaiting, byGang, finding.GangMembersMissing, "1 pod without a node: why", "",
		},
		"no node takes a pod": {
			Input{Job: job(nil), Pods: waiting, Waiting: refused(diagnosticsv1alpha1.PodUnschedulable, finding.InsufficientResources)},
			diagnosticsv1alpha1.JobWaiting, byScheduler, finding.InsufficientResources, "1 pod without a node: why", "",
		},
		"another scheduler schedules it": {
			Input{Job: job(nil), Pods: waiting, Waiting: refused(diagnosticsv1alpha1.PodNotResponsible, finding.OtherScheduler)},
			diagnosticsv1alpha1.JobWaiting, "", finding.OtherScheduler, "1 pod without a node: why", "",
		},
		"a waiting pod that could not be explained": {Input{Job: job(nil), Pods: waiting}, diagnosticsv1alpha1.JobWaiting, "", "", "1 pod without a node", ""},
		"all pods have nodes":                       {Input{Job: job(nil), Pods: waiting[1:]}, diagnosticsv1alpha1.JobRunning, "", "", "1 pod on nodes, none waits", ""},
		"no pods yet":                               {Input{Job: job(nil)}, diagnosticsv1alpha1.JobStarting, "", "", "the Job may run; it has no pods yet", ""},
		"pods could not be read":                    {Input{Job: job(nil), PodsUnknown: true}, diagnosticsv1alpha1.JobStarting, "", "", "the Job may run; its pods could not be read", ""},
		"complete":                                  {Input{Job: job(ending(batchv1.JobComplete, "")), Pods: waiting}, diagnosticsv1alpha1.JobComplete, "", "", "the Job is complete", ""},
		"failed":                                    {Input{Job: job(ending(batchv1.JobFailed, "too many retries"))}, diagnosticsv1alpha1.JobFailed, "", "", "the Job has failed: too many retries", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Explain(tc.in)
			text := ""
			if got.Queue != nil {
				text = QueueText(got.Queue)
			}
			type said struct{ State, HeldBy, Code, Summary, Queue string }
			want := said{string(tc.wantState), tc.wantHeldBy, string(tc.wantCode), tc.wantSummary, tc.wantText}
			if diff := cmp.Diff(want, said{string(got.State), got.HeldBy, got.Code, got.Summary, text}); diff != "" {
				t.Errorf("explanation (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheOldestPodWithoutANodeIsExplained(t *testing.T) {
	pods := []corev1.Pod{
		pod("b", "", corev1.PodPending, time.Minute), pod("a", "", corev1.PodPending, time.Minute), pod("young", "", corev1.PodPending, 0),
		pod("bound", "node-1", corev1.PodPending, time.Hour), pod("done", "", corev1.PodSucceeded, time.Hour), pod("failed", "", corev1.PodFailed, time.Hour),
	}
	if got := Waiting(pods); got == nil || got.Name != "a" {
		t.Errorf("waiting is %v, want a", got)
	}
	if got := Waiting(pods[3:]); got != nil {
		t.Errorf("waiting is %s, want none", got.Name)
	}
	want := diagnosticsv1alpha1.JobPods{Waiting: 3, Bound: 1, Succeeded: 1, Failed: 1}
	if diff := cmp.Diff(want, count(pods)); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
}
