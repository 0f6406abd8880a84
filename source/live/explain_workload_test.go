package live

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/source"
)

func TestAWorkloadIsExplained(t *testing.T) {
	labels := map[string]string{"app": "web"}
	deployments := &appsv1.DeploymentList{Items: []appsv1.Deployment{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "1"},
		Spec:       appsv1.DeploymentSpec{Replicas: new(int32(2)), Selector: &metav1.LabelSelector{MatchLabels: labels}},
		Status:     appsv1.DeploymentStatus{Replicas: 2, UpdatedReplicas: 2, ReadyReplicas: 2},
	}}}
	sets := &appsv1.StatefulSetList{Items: []appsv1.StatefulSet{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "2"},
		Spec:       appsv1.StatefulSetSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}},
	}}}
	member := func(p *corev1.Pod) { p.Labels, p.Spec.SchedulerName = labels, "koord-scheduler" }
	cluster := func() *clusterBuilder {
		return makeCluster().list("deployments", deployments).list("statefulsets", sets).node("node-1").pod("shop", "web-1", "node-1", "2", member).pod("shop", "db-1", "node-1", "4")
	}
	deployment, statefulSet := source.WorkloadKinds[0], source.WorkloadKinds[1]
	for name, tc := range map[string]struct {
		cluster        *clusterBuilder
		kind           source.Kind
		name           string
		wantState      diagnosticsv1alpha1.WorkloadState
		wantHeldBy     string
		wantRequested  int64
		wantIncomplete bool
		wantError      finding.Code
	}{
		"its pods run": {cluster: cluster(), wantState: diagnosticsv1alpha1.WorkloadRunning, wantRequested: 2000},
		"a pod waits for a node": {
			cluster: cluster().pod("shop", "web-2", "", "64", member), wantState: diagnosticsv1alpha1.WorkloadWaiting, wantHeldBy: "koord-scheduler",
			wantRequested: 66000, wantIncomplete: true, // of what only the scheduler can judge
		},
		"a StatefulSet without its pod": {cluster: cluster(), kind: statefulSet, wantState: diagnosticsv1alpha1.WorkloadStarting, wantRequested: 2000},
		"no permission for pods":        {cluster: cluster().denied("list pods"), wantState: diagnosticsv1alpha1.WorkloadUnknown, wantIncomplete: true},
		"no permission for NodeMetrics": {
			cluster: cluster().denied("list nodemetrics"), wantState: diagnosticsv1alpha1.WorkloadRunning, wantRequested: 2000, wantIncomplete: true,
		},
		"not found": {cluster: cluster(), name: "wbe", wantError: finding.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.kind.Name == "" {
				tc.kind = deployment
			}
			if tc.name == "" {
				tc.name = "web"
			}
			var explainer source.WorkloadExplainer = tc.cluster.source(t)
			got, err := explainer.ExplainWorkload(t.Context(), tc.kind, "shop", tc.name)
			if tc.wantError != "" {
				if !hasCode(err, tc.wantError) {
					t.Errorf("error %v, want code %s", err, tc.wantError)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.State != tc.wantState || got.HeldBy != tc.wantHeldBy || (len(got.Incomplete) > 0) != tc.wantIncomplete {
				t.Errorf("%s, held by %q, incomplete %q; want %s by %q, incomplete: %t", got.State, got.HeldBy, got.Incomplete, tc.wantState, tc.wantHeldBy, tc.wantIncomplete)
			}
			var requested int64
			if got.Overview != nil {
				requested = got.Overview.CPU.Requested
			}
			if diff := cmp.Diff(tc.wantRequested, requested); diff != "" {
				t.Errorf("requested CPU (-want +got):\n%s", diff)
			}
		})
	}
}
