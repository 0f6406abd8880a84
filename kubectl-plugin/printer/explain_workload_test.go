package printer

import (
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// waitingWorkloadFixture is a Deployment of batch pods, of which a quota refuses some.
func waitingWorkloadFixture() *diagnosticsv1alpha1.WorkloadExplanation {
	return &diagnosticsv1alpha1.WorkloadExplanation{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "workers"},
		Workload:   diagnosticsv1alpha1.SourceRef{Kind: "Deployment", Namespace: "ml", Name: "workers"},
		State:      diagnosticsv1alpha1.WorkloadWaiting, HeldBy: "ElasticQuota", Code: "KOORD1201", WaitingPod: "workers-7d4b9-x2x4p", Replicas: 5, Ready: 3,
		Summary: "2 pods without a node: 0/8 nodes are available: quota research has insufficient kubernetes.io/batch-cpu.",
		Overview: &diagnosticsv1alpha1.WorkloadOverview{
			Pods: 5, Waiting: 2, Measured: 3,
			CPU:    diagnosticsv1alpha1.WorkloadResource{Requested: 5000, Batch: 5000, Used: new(int64(1250)), Idle: new(int64(1750)), Recommended: new(int64(2500))},
			Memory: diagnosticsv1alpha1.WorkloadResource{Requested: 10 << 30, Batch: 10 << 30, Used: new(int64(3 << 30)), Idle: new(int64(3 << 30))},
		},
	}
}

// refusedWorkloadFixture is a ReplicaSet whose pods are not measured, and could not all be created.
func refusedWorkloadFixture() *diagnosticsv1alpha1.WorkloadExplanation {
	return &diagnosticsv1alpha1.WorkloadExplanation{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
		Workload:   diagnosticsv1alpha1.SourceRef{Kind: "ReplicaSet", Namespace: "shop", Name: "web"},
		State:      diagnosticsv1alpha1.WorkloadRefused, Replicas: 3, Ready: 1,
		Summary: `1 of 3 pods exist: pods "web-" is forbidden: exceeded quota: compute, requested: cpu=2, used: cpu=3, limited: cpu=4`,
		Overview: &diagnosticsv1alpha1.WorkloadOverview{
			Pods: 1, CPU: diagnosticsv1alpha1.WorkloadResource{Requested: 2000, Mid: 500}, Memory: diagnosticsv1alpha1.WorkloadResource{Requested: 1 << 30},
		},
	}
}

func workloadExplanationViews() map[string]view {
	brief := func(e *diagnosticsv1alpha1.WorkloadExplanation) view {
		return func(w io.Writer, o Options) error { return BriefWorkload(e).Print(w, o) }
	}
	return map[string]view{
		"explain-workload-waiting": func(w io.Writer, o Options) error { return WorkloadExplanation(w, waitingWorkloadFixture(), o) },
		"explain-workload-refused": func(w io.Writer, o Options) error { return WorkloadExplanation(w, refusedWorkloadFixture(), o) },
		"brief-workload-waiting":   brief(waitingWorkloadFixture()),
		"brief-workload-refused":   brief(refusedWorkloadFixture()),
	}
}
