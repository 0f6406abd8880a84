package workloadview

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
)

// answer is what a test looks at.
type answer struct {
	State                         diagnosticsv1alpha1.WorkloadState
	Summary, HeldBy, Code, Waiter string
}

func TestWhatAWorkloadLacks(t *testing.T) {
	of := func(edit func(*Workload)) Workload {
		w := Workload{Kind: "Deployment", Replicas: 3, Current: 3, Updated: 3, Ready: 3}
		edit(&w)
		return w
	}
	waiting := []corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "web-0"}, Status: corev1.PodStatus{Phase: corev1.PodPending}}}
	refused := &diagnosticsv1alpha1.PodExplanation{
		ObjectMeta: metav1.ObjectMeta{Name: "web-0"},
		Status: diagnosticsv1alpha1.PodExplanationStatus{
			Verdict: diagnosticsv1alpha1.PodUnschedulable, Code: string(finding.QuotaMaxExceeded), Summary: "quota web is full",
		},
	}
	full := refused.DeepCopy()
	full.Status.Code, full.Status.Summary = string(finding.InsufficientResources), "0/3 nodes are available"
	for name, tc := range map[string]struct {
		in   Input
		want answer
	}{
		"all ready": {Input{Workload: of(func(*Workload) {})}, answer{State: diagnosticsv1alpha1.WorkloadRunning, Summary: "3 of 3 pods ready"}},
		"a pod without a node that a quota refuses": {
			Input{Workload: of(func(w *Workload) { w.Ready = 2 }), Pods: waiting, Waiting: refused},
			answer{diagnosticsv1alpha1.WorkloadWaiting, "1 pod without a node: quota web is full", "ElasticQuota", string(finding.QuotaMaxExceeded), "web-0"},
		},
		"a pod without a node that no node takes": {
			Input{Workload: of(func(w *Workload) { w.Ready = 2 }), Pods: waiting, Waiting: full},
			answer{diagnosticsv1alpha1.WorkloadWaiting, "1 pod without a node: 0/3 nodes are available", "koord-scheduler", string(finding.InsufficientResources), "web-0"},
		},
		"a pod without a node that could not be explained": {
			Input{Workload: of(func(*Workload) {}), Pods: waiting}, answer{State: diagnosticsv1alpha1.WorkloadWaiting, Summary: "1 pod without a node"},
		},
		"pods that may not be created": {
			Input{Workload: of(func(w *Workload) {
				w.Current, w.Updated, w.Ready, w.Failure = 1, 1, 1, "pods is forbidden: exceeded quota"
			})},
			answer{State: diagnosticsv1alpha1.WorkloadRefused, Summary: "1 of 3 pods exist: pods is forbidden: exceeded quota"},
		},
		"a rollout": {
			Input{Workload: of(func(w *Workload) { w.Current, w.Updated = 4, 1 })},
			answer{State: diagnosticsv1alpha1.WorkloadRollingOut, Summary: "1 of 3 pods of the latest template"},
		},
		"a change that was not seen": {
			Input{Workload: of(func(w *Workload) { w.Unseen = true })},
			answer{State: diagnosticsv1alpha1.WorkloadRollingOut, Summary: "its controller has not seen the latest change yet"},
		},
		"more pods than wanted": {
			Input{Workload: of(func(w *Workload) { w.Replicas = 1 })}, answer{State: diagnosticsv1alpha1.WorkloadScalingDown, Summary: "1 pod wanted, 3 exist"},
		},
		"none wanted, some left": {
			Input{Workload: of(func(w *Workload) { w.Replicas = 0 })}, answer{State: diagnosticsv1alpha1.WorkloadScalingDown, Summary: "0 pods wanted, 3 exist"},
		},
		"none wanted": {
			Input{Workload: of(func(w *Workload) { w.Replicas, w.Current, w.Updated, w.Ready = 0, 0, 0, 0 })},
			answer{State: diagnosticsv1alpha1.WorkloadStopped, Summary: "no pods are wanted"},
		},
		"pods that do not exist yet": {
			Input{Workload: of(func(w *Workload) { w.Current, w.Updated, w.Ready = 2, 2, 2 })},
			answer{State: diagnosticsv1alpha1.WorkloadStarting, Summary: "2 of 3 pods exist"},
		},
		"pods that are not ready": {
			Input{Workload: of(func(w *Workload) { w.Ready = 1 })}, answer{State: diagnosticsv1alpha1.WorkloadUnready, Summary: "1 of 3 pods ready, all have nodes"},
		},
		"pods that may not be read": {
			Input{Workload: of(func(w *Workload) { w.Ready = 1 }), PodsUnknown: true},
			answer{State: diagnosticsv1alpha1.WorkloadUnknown, Summary: "1 of 3 pods ready; the pods could not be read"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := Explain(tc.in)
			if diff := cmp.Diff(tc.want, answer{got.State, got.Summary, got.HeldBy, got.Code, got.WaitingPod}); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatCountsOfEachController(t *testing.T) {
	failing := []appsv1.DeploymentCondition{{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Message: "why"}}
	for name, tc := range map[string]struct{ got, want Workload }{
		"a Deployment": {
			OfDeployment(&appsv1.Deployment{Status: appsv1.DeploymentStatus{Replicas: 4, UpdatedReplicas: 1, ReadyReplicas: 3, Conditions: failing}}),
			Workload{Kind: "Deployment", Replicas: 1, Current: 4, Updated: 1, Ready: 3, Failure: "why"},
		},
		"a StatefulSet at rest": {
			OfStatefulSet(&appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Replicas: new(int32(2))}, Status: appsv1.StatefulSetStatus{Replicas: 2, ReadyReplicas: 2}}),
			Workload{Kind: "StatefulSet", Replicas: 2, Current: 2, Updated: 2, Ready: 2},
		},
		"a StatefulSet that is rolled out": {
			OfStatefulSet(&appsv1.StatefulSet{Status: appsv1.StatefulSetStatus{Replicas: 2, UpdatedReplicas: 1, CurrentRevision: "a", UpdateRevision: "b"}}),
			Workload{Kind: "StatefulSet", Replicas: 1, Current: 2, Updated: 1},
		},
		"a ReplicaSet": {
			OfReplicaSet(&appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Generation: 2}, Status: appsv1.ReplicaSetStatus{Replicas: 1, ObservedGeneration: 1}}),
			Workload{ObjectMeta: metav1.ObjectMeta{Generation: 2}, Kind: "ReplicaSet", Replicas: 1, Current: 1, Updated: 1, Unseen: true},
		},
		"a DaemonSet": {
			OfDaemonSet(&appsv1.DaemonSet{Status: appsv1.DaemonSetStatus{DesiredNumberScheduled: 5, CurrentNumberScheduled: 4, UpdatedNumberScheduled: 3, NumberReady: 2}}),
			Workload{Kind: "DaemonSet", Replicas: 5, Current: 4, Updated: 3, Ready: 2},
		},
	} {
		if diff := cmp.Diff(tc.want, tc.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
