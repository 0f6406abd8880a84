package integration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/sandbox/scenario"
	"koordinator.sh/koord/test/sandboxtest"
)

// twoPasses of the sandbox's koord-descheduler, with its start.
const twoPasses = 5 * time.Minute

// TestAJobOnAnOverutilizedNodeIsThrottledAndNotMoved: koord-descheduler lowers its limit in place and says so. In the same pass, a job gets its
// limit back whose node has room.
func TestAJobOnAnOverutilizedNodeIsThrottledAndNotMoved(t *testing.T) {
	const throttled, restored = "it-throttled", "it-restored"
	before := startGreedyJob(t, throttled, scenario.HotNode(nodes), "8")
	other := startGreedyJob(t, restored, "sim-0002", "1500m")
	record := extension.LoweredCPULimits{Time: metav1.Now(), Usage: resource.MustParse("2"), Containers: map[string]extension.LoweredCPULimit{
		"main": {Before: resource.MustParse("4"), After: resource.MustParse("1500m")},
	}}
	if err := extension.SetLoweredCPULimits(other, &record); err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Pods(restored).Update(t.Context(), other, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}

	after := awaitLimit(t, throttled, func(limit resource.Quantity) bool {
		return limit.Cmp(resource.MustParse("8")) < 0 && limit.Cmp(resource.MustParse("500m")) >= 0
	})
	lowered, err := extension.GetLoweredCPULimits(after.Annotations)
	if err != nil || lowered == nil || after.UID != before.UID {
		t.Fatalf("pod %s with %v, %v, want pod %s with a record", after.UID, after.Annotations, err, before.UID)
	}
	if was := lowered.Containers["main"].Before; was.Cmp(resource.MustParse("8")) != 0 {
		t.Errorf("the record says that the limit was %s", was.String())
	}
	awaitResizeEvent(t, throttled, "CPULimitLowered")
	awaitLimit(t, restored, func(limit resource.Quantity) bool { return limit.Cmp(resource.MustParse("4")) == 0 })
	awaitResizeEvent(t, restored, "CPULimitRestored")
}

// startGreedyJob has a pod run on a node that would use 2 cores, requests half of one and is limited to so many.
func startGreedyJob(t *testing.T, namespace, node, limit string) *corev1.Pod {
	t.Helper()
	if _, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.CoreV1().Namespaces().Delete(context.Background(), namespace, metav1.DeleteOptions{}) // the sandbox ends with the tests
	})
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "greedy"}}
	job.Spec.Template.Annotations = map[string]string{scenario.ProfileAnnotation: "hot", scenario.CPUPercentAnnotation: "400"}
	job.Spec.Template.Spec = corev1.PodSpec{
		NodeName:      node, // where koord-scheduler might not place it
		RestartPolicy: corev1.RestartPolicyNever,
		Containers: []corev1.Container{{Name: "main", Image: "greedy", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(limit)},
		}}},
	}
	if _, err := client.BatchV1().Jobs(namespace).Create(t.Context(), job, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	sandboxtest.Eventually(t, time.Minute, func() error {
		pod, err := onlyPod(t, namespace)
		if err == nil && pod.Status.Phase != corev1.PodRunning {
			err = fmt.Errorf("the pod is %s", pod.Status.Phase)
		}
		return err
	})
	resizable(t, namespace)
	pod, err := onlyPod(t, namespace)
	if err != nil {
		t.Fatal(err)
	}
	return pod
}

// onlyPod of a namespace.
func onlyPod(t *testing.T, namespace string) (*corev1.Pod, error) {
	t.Helper()
	pods, err := client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	if err == nil && len(pods.Items) != 1 {
		err = fmt.Errorf("%d pods, want one", len(pods.Items))
	}
	if err != nil {
		return nil, err
	}
	return &pods.Items[0], nil
}

// awaitLimit waits until the only pod of a namespace has such a CPU limit, and returns the pod.
func awaitLimit(t *testing.T, namespace string, wanted func(resource.Quantity) bool) (pod *corev1.Pod) {
	t.Helper()
	sandboxtest.Eventually(t, twoPasses, func() (err error) {
		if pod, err = onlyPod(t, namespace); err != nil {
			return err
		}
		if limit := pod.Spec.Containers[0].Resources.Limits[corev1.ResourceCPU]; !wanted(limit) {
			return fmt.Errorf("the limit is %s", limit.String())
		}
		return nil
	})
	return pod
}

// awaitResizeEvent waits for an event of koord-descheduler about a pod of a namespace.
func awaitResizeEvent(t *testing.T, namespace, reason string) {
	t.Helper()
	sandboxtest.Eventually(t, time.Minute, func() error {
		list, err := client.EventsV1().Events(namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range list.Items {
			if event := &list.Items[i]; event.Reason == reason && strings.Contains(event.ReportingController, "koord-descheduler") {
				return nil
			}
		}
		return errors.New("there is no event " + reason)
	})
}
