package printer

import (
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// queuedJobFixture is a Job that Kueue has not admitted.
func queuedJobFixture() *diagnosticsv1alpha1.JobExplanation {
	const waits = `Kueue has not reserved quota of ClusterQueue "batch" for Workload "job-train-1a2b3": couldn't assign flavors to pod set main: ` +
		`insufficient unused quota for kubernetes.io/batch-cpu in flavor any-node, 250 more needed`
	return &diagnosticsv1alpha1.JobExplanation{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "train"},
		State:      diagnosticsv1alpha1.JobSuspended, HeldBy: "Kueue", Code: "KOORD1917", Summary: waits,
		Queue: &diagnosticsv1alpha1.JobQueue{Workload: "job-train-1a2b3", LocalQueue: "jobs", ClusterQueue: "batch"},
		Findings: []diagnosticsv1alpha1.Finding{{
			Code: "KOORD1917", Severity: diagnosticsv1alpha1.SeverityInfo, Message: waits, Hint: "kubectl describe clusterqueue batch",
			Object: &diagnosticsv1alpha1.SourceRef{Kind: "Workload", Namespace: "ml", Name: "job-train-1a2b3"},
		}},
	}
}

// waitingJobFixture is a Job that Kueue admitted, and of which a quota refuses pods.
func waitingJobFixture() *diagnosticsv1alpha1.JobExplanation {
	return &diagnosticsv1alpha1.JobExplanation{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "train"},
		State:      diagnosticsv1alpha1.JobWaiting, HeldBy: "ElasticQuota", Code: "KOORD1201", WaitingPod: "train-0",
		Summary: "2 pods without a node: 0/8 nodes are available: quota research has insufficient kubernetes.io/batch-cpu.", Pods: diagnosticsv1alpha1.JobPods{Waiting: 2, Bound: 3, Succeeded: 1, Failed: 1},
		Queue: &diagnosticsv1alpha1.JobQueue{Workload: "job-train-1a2b3", LocalQueue: "jobs", ClusterQueue: "batch", Admitted: true},
	}
}

func jobViews() map[string]view {
	brief := func(e *diagnosticsv1alpha1.JobExplanation) view {
		return func(w io.Writer, o Options) error { return BriefJob(e).Print(w, o) }
	}
	return map[string]view{
		"explain-job-queued":  func(w io.Writer, o Options) error { return JobExplanation(w, queuedJobFixture(), o) },
		"explain-job-waiting": func(w io.Writer, o Options) error { return JobExplanation(w, waitingJobFixture(), o) },
		"brief-job-queued":    brief(queuedJobFixture()),
		"brief-job-waiting":   brief(waitingJobFixture()),
	}
}
