package migration

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

func TestADeploymentAllowsAsManyPodsAsItsStrategy(t *testing.T) {
	rolling := func(surge intstr.IntOrString) appsv1.DeploymentStrategy {
		return appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &surge}}
	}
	for _, test := range []struct {
		name     string
		strategy appsv1.DeploymentStrategy
		replicas int32
		want     int
	}{
		{"a percentage is rounded up", rolling(intstr.FromString("25%")), 1, 1},
		{"a percentage of many", rolling(intstr.FromString("25%")), 10, 3},
		{"a number", rolling(intstr.FromInt32(2)), 10, 2},
		{"none", rolling(intstr.FromInt32(0)), 10, 0},
		{"not a percentage", rolling(intstr.FromString("many")), 10, 0},
		{"negative", rolling(intstr.FromInt32(-1)), 10, 0},
		{"Recreate", appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}, 10, 0},
	} {
		deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: appsv1.DeploymentSpec{Replicas: &test.replicas, Strategy: test.strategy}}
		if diff := cmp.Diff(&Workload{Name: "web", MaxSurge: test.want}, WorkloadOf(deployment, 0)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
	for name, change := range map[string]func(*appsv1.Deployment){
		"old pods are left":      func(d *appsv1.Deployment) { d.Status.Replicas, d.Status.UpdatedReplicas = 3, 2 },
		"a change is not seen":   func(d *appsv1.Deployment) { d.Generation, d.Status.ObservedGeneration = 2, 1 },
		"no status is there yet": func(d *appsv1.Deployment) { d.Generation = 1 },
	} {
		deployment := &appsv1.Deployment{}
		change(deployment)
		if !WorkloadOf(deployment, 0).RollingOut {
			t.Errorf("%s: the Deployment is not rolled out", name)
		}
	}
}

func TestReplacementsOfOneReplicaSetAreCounted(t *testing.T) {
	job := func(name, pod string, edits ...func(*schedulingv1alpha1.PodMigrationJob)) schedulingv1alpha1.PodMigrationJob {
		out := schedulingv1alpha1.PodMigrationJob{
			ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)},
			Spec:       schedulingv1alpha1.PodMigrationJobSpec{PodRef: &corev1.ObjectReference{Namespace: "shop", Name: pod, UID: podUID}},
			Status:     schedulingv1alpha1.PodMigrationJobStatus{Conditions: []schedulingv1alpha1.PodMigrationJobCondition{{Type: schedulingv1alpha1.PodMigrationJobConditionSurge}}},
		}
		for _, edit := range edits {
			edit(&out)
		}
		return out
	}
	detached := webPod()
	detached.OwnerReferences = nil
	detached.Annotations = map[string]string{extension.AnnotationSurge: `{"jobUID":"ended-not-given-back","replicaSet":"web-7d","replicaSetUID":"set"}`}
	leaving, other := webPod(), webPod()
	leaving.DeletionTimestamp, other.OwnerReferences[0].UID = new(metav1.Now()), "another"
	pods := map[string]*corev1.Pod{"web": webPod(), "detached": detached, "leaving": leaving, "other": other}
	failed := func(job *schedulingv1alpha1.PodMigrationJob) {
		job.Status.Phase = schedulingv1alpha1.PodMigrationJobFailed
	}
	jobs := []schedulingv1alpha1.PodMigrationJob{
		job("mine", "web"), job("starting", "web"), job("ended-not-given-back", "detached", failed),
		job("ended", "web", failed), job("of-a-pod-that-leaves", "leaving"), job("of-another-ReplicaSet", "other"), job("of-no-pod", "gone"),
		job("evicting-first", "web", func(job *schedulingv1alpha1.PodMigrationJob) { job.Status.Conditions = nil }),
		job("elsewhere", "web", func(job *schedulingv1alpha1.PodMigrationJob) { job.Spec.PodRef.Namespace = "bank" }),
		job("without-a-pod", "web", func(job *schedulingv1alpha1.PodMigrationJob) { job.Spec.PodRef = nil }),
	}
	got, err := Surging(&jobs[0], jobs, "set", func(name string) (*corev1.Pod, error) { return pods[name], nil })
	if err != nil || got != 2 {
		t.Errorf("%d pods are being replaced, %v; want 2: of starting and of ended-not-given-back", got, err)
	}
	unreadable := errors.New("no answer")
	if _, err := Surging(&jobs[0], jobs, "set", func(string) (*corev1.Pod, error) { return nil, unreadable }); !errors.Is(err, unreadable) {
		t.Errorf("error %v, want %v", err, unreadable)
	}
}
