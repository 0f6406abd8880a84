package integration

import (
	"context"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	decision "koordinator.sh/koord/decision/descheduling/migration"
	"koordinator.sh/koord/sandbox/component"
	"koordinator.sh/koord/test/sandboxtest"
)

// surging lets a Deployment of some replicas be moved by replacing its pods before they are evicted.
func surging(replicas int32) func(*appsv1.DeploymentSpec) {
	return func(spec *appsv1.DeploymentSpec) {
		spec.Replicas = &replicas
		spec.Template.Labels[extension.LabelPodEvictPolicy] = string(decision.Surge)
	}
}

// TestAPodIsReplacedBeforeItIsEvicted moves the only pod of a Deployment whose budget allows no disruption, within the limits that hold by
// default.
func TestAPodIsReplacedBeforeItIsEvicted(t *testing.T) {
	pause(t, component.Descheduler)
	const namespace = "surged"
	pods := webDeployment(t, namespace, 1, surging(1))
	least := sandboxtest.LeastReady(t, client, namespace, metav1.ListOptions{})
	controller := startArbitrated(t, decision.DefaultArgs())
	job := newJob(&pods[0], 2*time.Minute)
	controller.startJob(t, job)
	controller.awaitEnd(t, job, schedulingv1alpha1.PodMigrationJobSucceeded, "Complete")
	if !extension.MustReplaceFirst(job.Annotations) {
		t.Errorf("annotations %v, want %s", job.Annotations, extension.AnnotationReplaceFirst)
	}
	moved(t, job, &pods[0])
	if got := least(); got < 1 {
		t.Errorf("at least %d pods were ready at any time, want 1", got)
	}
	owned(t, namespace, 1)
}

// TestAPodThatIsNotEvictedIsGivenBack gives jobs up whose pods are replaced, and whose evictions a budget refuses.
func TestAPodThatIsNotEvictedIsGivenBack(t *testing.T) {
	pause(t, component.Descheduler)
	const namespace = "surge-aborted"
	webDeployment(t, namespace, 2, surging(1))
	least := sandboxtest.LeastReady(t, client, namespace, metav1.ListOptions{})
	controller := startMigrator(t)
	abort := func(job *schedulingv1alpha1.PodMigrationJob) error {
		aborted := job.DeepCopy()
		aborted.Annotations[extension.AnnotationAbortMigration] = "true"
		return controller.Patch(t.Context(), aborted, ctrlclient.MergeFrom(job))
	}
	remove := func(job *schedulingv1alpha1.PodMigrationJob) error { return controller.Delete(t.Context(), job) }
	for _, test := range []struct {
		name   string
		giveUp func(*schedulingv1alpha1.PodMigrationJob) error
	}{{"an aborted job", abort}, {"a deleted job", remove}} {
		t.Run(test.name, func(t *testing.T) {
			list, err := client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
			if err != nil || len(list.Items) != 1 {
				t.Fatalf("%d pods, want 1: %v", len(list.Items), err)
			}
			job := migrationJob(&list.Items[0], 2*time.Minute)
			controller.startJob(t, job)
			controller.awaitRefusal(t, job)
			pod, err := client.CoreV1().Pods(namespace).Get(t.Context(), job.Spec.PodRef.Name, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if controller := metav1.GetControllerOf(pod); controller != nil {
				t.Errorf("the pod belongs to %s, want that it is detached", controller.Name)
			}
			if err := test.giveUp(job); err != nil {
				t.Fatal(err)
			}
			owned(t, namespace, 1)
		})
	}
	if got := least(); got < 1 {
		t.Errorf("at least %d pods were ready at any time, want 1", got)
	}
}

// owned waits until a namespace has some pods alone, all of which belong to a ReplicaSet and are ready.
func owned(t *testing.T, namespace string, want int) {
	t.Helper()
	sandboxtest.Eventually(t, 3*patience, func() error {
		list, err := client.CoreV1().Pods(namespace).List(context.Background(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		count := 0
		for i := range list.Items {
			pod := &list.Items[i]
			if controller := metav1.GetControllerOf(pod); controller != nil && pod.Annotations[extension.AnnotationSurge] == "" {
				count++
			}
		}
		if ready := sandboxtest.CountReady(list.Items); count != want || len(list.Items) != want || ready != want {
			return fmt.Errorf("%d of %d pods belong to a ReplicaSet, %d are ready, want %d: %v", count, len(list.Items), ready, want, podNames(list.Items))
		}
		return nil
	})
}

func podNames(pods []corev1.Pod) (names []string) {
	for i := range pods {
		names = append(names, pods[i].Name)
	}
	return names
}
