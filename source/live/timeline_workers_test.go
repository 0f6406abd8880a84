package live

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/source"
)

// TestTheTimelineOfWorkersTellsOfTheirPods: of those that the target has, of those that are gone, and of none of others.
func TestTheTimelineOfWorkersTellsOfTheirPods(t *testing.T) {
	about := func(kind, name, reason string) corev1.Event {
		return corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: "sql", Name: name + "." + reason},
			InvolvedObject: corev1.ObjectReference{Kind: kind, Namespace: "sql", Name: name},
			Reason:         reason, FirstTimestamp: metav1.NewTime(builtAt),
		}
	}
	events := []corev1.Event{
		about("Deployment", "trino-worker", "ScalingReplicaSet"), about("ReplicaSet", "trino-worker-5d8f", "SuccessfulCreate"),
		about("Pod", "trino-worker-5d8f-x2x4z", "Killing"), about("Pod", "named-by-hand", "Started"), about("Pod", "trino-coordinator-0", "Pulled"),
		about("ElasticWorkers", "trino", "Scaled"), about("Deployment", "coordinator", "ScalingReplicaSet"),
		about("SparkApplication", "trino-worker", "Running"), about("Pod", "trino-worker-3", "Draining"),
	}
	deployment := appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "sql", Name: "trino-worker"}}
	deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "worker"}}
	worker := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "sql", Name: "named-by-hand", Labels: map[string]string{"app": "worker"}}}
	own := []string{" ObjectCreated", " Scaled"}
	tests := map[string]struct {
		target         schedulingv1alpha1.ElasticWorkersTarget
		denied         []string
		want           []string
		wantIncomplete []string
	}{
		"a Deployment": {
			target: schedulingv1alpha1.ElasticWorkersTarget{APIVersion: "apps/v1", Kind: "Deployment", Name: "trino-worker"},
			want: []string{
				"Deployment/trino-worker ScalingReplicaSet", "Pod/named-by-hand Started", "Pod/trino-worker-5d8f-x2x4z Killing",
				"ReplicaSet/trino-worker-5d8f SuccessfulCreate",
			},
		},
		"a Deployment that may not be read": {
			target: schedulingv1alpha1.ElasticWorkersTarget{APIVersion: "apps/v1", Kind: "Deployment", Name: "trino-worker"}, denied: []string{"get deployments"},
			want: []string{
				"Deployment/trino-worker ScalingReplicaSet", "Pod/trino-worker-5d8f-x2x4z Killing", "ReplicaSet/trino-worker-5d8f SuccessfulCreate",
			},
			wantIncomplete: []string{"get deployments.apps*which pods belong to it is told by their names alone (KOORD0002)"},
		},
		"a Deployment that is gone": {
			target: schedulingv1alpha1.ElasticWorkersTarget{APIVersion: "apps/v1", Kind: "Deployment", Name: "gone"},
		},
		"a kind whose pods only its controller knows": {
			target: schedulingv1alpha1.ElasticWorkersTarget{APIVersion: "sparkoperator.k8s.io/v1beta2", Kind: "SparkApplication", Name: "trino-worker"},
			want:   []string{"Pod/trino-worker-3 Draining", "SparkApplication/trino-worker Running"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			object := sizedEngine("sql", "trino", builtAt)
			object.Spec.TargetRef, object.CreationTimestamp, object.Status.Conditions = test.target, metav1.NewTime(builtAt), nil
			cluster := makeCluster().list("elasticworkers", &schedulingv1alpha1.ElasticWorkersList{Items: []schedulingv1alpha1.ElasticWorkers{object}}).
				list("deployments", &appsv1.DeploymentList{Items: []appsv1.Deployment{deployment}})
			cluster.server.Events, cluster.server.Pods = events, []corev1.Pod{worker}
			cluster.denied(test.denied...)
			answer, err := cluster.source(t).ObjectTimeline(t.Context(), source.KindWorkers, "sql", "trino")
			if err != nil {
				t.Fatal(err)
			}
			got := make([]string, 0, len(answer.Entries))
			for _, entry := range answer.Entries {
				about := ""
				if entry.Object != nil {
					about = entry.Object.Kind + "/" + entry.Object.Name
				}
				got = append(got, about+" "+entry.Event)
			}
			slices.Sort(got)
			if diff := cmp.Diff(append(slices.Clone(own), test.want...), got); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
			checkIncomplete(t, answer.Incomplete, test.wantIncomplete)
		})
	}
}
