package live

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// TestWorkloadsThatChangeAreNotForecastToMove: as koord-descheduler leaves them alone.
func TestWorkloadsThatChangeAreNotForecastToMove(t *testing.T) {
	const planned = "1 pod would move in 1 round, the first in round 1"
	deployment := func(edit func(*appsv1.Deployment)) func(*clusterBuilder) {
		return func(b *clusterBuilder) {
			d := appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "uid-web", Generation: 2}}
			d.Spec.Replicas = new(int32(4))
			d.Status = appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 4, UpdatedReplicas: 4}
			edit(&d)
			b.list("deployments", &appsv1.DeploymentList{Items: []appsv1.Deployment{d}})
		}
	}
	rollout := deployment(func(d *appsv1.Deployment) { d.Status.UpdatedReplicas = 1 })
	autoscaler := autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	autoscaler.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{Kind: "Deployment", Name: "web"}
	autoscaler.Status = autoscalingv2.HorizontalPodAutoscalerStatus{CurrentReplicas: 4, DesiredReplicas: 2, Conditions: []autoscalingv2.HorizontalPodAutoscalerCondition{
		{Type: autoscalingv2.ScalingActive, Status: corev1.ConditionTrue},
	}}
	tests := map[string]struct {
		edit     func(*clusterBuilder)
		wantStay string
		// wantRemedy is what is done instead: the pods of the hot node are the first to be removed.
		wantRemedy string
		// wantIncomplete besides what is never known.
		wantIncomplete []string
	}{
		"at rest":                      {edit: deployment(func(*appsv1.Deployment) {})},
		"rolled out":                   {edit: rollout, wantStay: "Frozen: Rollout"},
		"a rollout that has not begun": {edit: deployment(func(d *appsv1.Deployment) { d.Generation = 3 }), wantStay: "Frozen: Rollout"},
		"scaled down":                  {edit: deployment(func(d *appsv1.Deployment) { d.Spec.Replicas, d.Status.UpdatedReplicas = new(int32(2)), 2 }), wantRemedy: "DeletionCost"},
		"another one of the same name": {edit: deployment(func(d *appsv1.Deployment) { d.UID, d.Status.UpdatedReplicas = "uid-other", 1 })},
		"scaled down by an autoscaler": {
			edit: func(b *clusterBuilder) {
				deployment(func(*appsv1.Deployment) {})(b)
				b.list("horizontalpodautoscalers", &autoscalingv2.HorizontalPodAutoscalerList{Items: []autoscalingv2.HorizontalPodAutoscaler{autoscaler}})
			},
			wantRemedy: "DeletionCost",
		},
		"Deployments may not be read": {
			edit:           func(b *clusterBuilder) { rollout(b); b.denied("list deployments") },
			wantIncomplete: []string{"list deployments.apps*which Deployments are being rolled out or scaled down is unknown (KOORD0002)"},
		},
		"ReplicaSets may not be read": {
			edit:           func(b *clusterBuilder) { rollout(b); b.denied("list replicasets") },
			wantIncomplete: []string{"list replicasets.apps*to which Deployments pods belong is unknown (KOORD0002)"},
		},
	}
	set := appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "web-5f", UID: "uid-web-5f",
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: "uid-web", Controller: new(true)}},
	}}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := overutilized()
			cluster.server.ConfigMaps[0], cluster.server.Diagnostics = deschedulerConfig(planner("")), &placing{to: "cold"}
			for i := range cluster.server.Pods {
				cluster.server.Pods[i].OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-5f", UID: "uid-web-5f", Controller: new(true)}}
			}
			cluster.list("replicasets", &appsv1.ReplicaSetList{Items: []appsv1.ReplicaSet{set}}).list("podmigrationjobs", &schedulingv1alpha1.PodMigrationJobList{})
			test.edit(cluster)
			answer, err := cluster.source(t).ForecastMigrations(t.Context(), 1)
			if err != nil {
				t.Fatal(err)
			}
			if moves := answer.Message == planned; moves != (test.wantStay+test.wantRemedy == "") {
				t.Errorf("message %q, want moves unless workloads are frozen", answer.Message)
			}
			if test.wantRemedy != "" && (len(answer.Remedies) == 0 || answer.Remedies[0].Remedy != test.wantRemedy) {
				t.Errorf("remedies %+v, want %s", answer.Remedies, test.wantRemedy)
			}
			if test.wantStay != "" && (len(answer.Stays) == 0 || answer.Stays[0].Reason != test.wantStay) {
				t.Errorf("stays %+v, want them because of %q", answer.Stays, test.wantStay)
			}
			checkIncomplete(t, answer.Incomplete, slices.Concat([]string{"LoadAwareRebalancing also knows*"}, test.wantIncomplete))
		})
	}
}
