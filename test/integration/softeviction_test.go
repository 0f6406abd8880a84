package integration

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/sandbox/component"
	"koordinator.sh/koord/test/sandboxtest"
)

// TestARequestForASoftEvictionEndsWithItsJob has a job request the soft eviction of a pod, and mark it as being evicted in the background,
// and aborts the job before the eviction is carried out.
func TestARequestForASoftEvictionEndsWithItsJob(t *testing.T) {
	pause(t, component.Descheduler) // the jobs are those of the controller of the test
	const namespace = "soft-eviction"
	pods := webDeployment(t, namespace, 2)
	pod := &pods[0]
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:"SoftEviction"},"annotations":{%q:""}}}`, extension.LabelPodEvictPolicy, extension.AnnotationRequestEvictOnly)
	pod, err := client.CoreV1().Pods(namespace).Patch(t.Context(), pod.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m := startMigrator(t)
	job := migrationJob(pod, 5*time.Minute)
	m.startJob(t, job)
	awaitAnnotations(t, pod, true)
	before := job.DeepCopy()
	job.Annotations[extension.AnnotationAbortMigration] = "true"
	if err := m.Patch(t.Context(), job, ctrlclient.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	m.awaitEnd(t, job, schedulingv1alpha1.PodMigrationJobAborted, schedulingv1alpha1.PodMigrationJobReasonAbortedByUser)
	awaitAnnotations(t, pod, false)
	untouched(t, namespace, pods)
}

// awaitAnnotations waits until a pod has what a job writes, or has it no more.
func awaitAnnotations(t *testing.T, pod *corev1.Pod, want bool) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		found, err := client.CoreV1().Pods(pod.Namespace).Get(t.Context(), pod.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		_, requested := found.Annotations[extension.AnnotationSoftEviction]
		_, marked := found.Annotations[extension.AnnotationEvictionInProgress]
		if requested != want || marked != want {
			return fmt.Errorf("eviction requested: %t, marked as in progress: %t, want both to be %t", requested, marked, want)
		}
		return nil
	})
}
