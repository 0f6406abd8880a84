package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/test/sandboxtest"
)

// toldOf is true where a timeline has an event whose message has all the words.
func toldOf(entries []diagnosticsv1alpha1.TimelineEntry, event string, words ...string) bool {
	return slices.ContainsFunc(entries, func(e diagnosticsv1alpha1.TimelineEntry) bool {
		return e.Event == event && !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(e.Message, word) })
	})
}

// TestEventsTellWhomAPodPreemptedAndWhatBecameOfIt fills a machine with the pod of a Deployment of one namespace, which a pod of another
// one preempts, and then deletes the latter.
func TestEventsTellWhomAPodPreemptedAndWhatBecameOfIt(t *testing.T) {
	const pool, user = "it-events", "it-events-user"
	low, high := space(t, "it-events-low"), space(t, "it-events-high")
	machines(t, pool, 1)
	bindInNamespace(t, high, "view", user)

	pod := demand(low, "filler", pool, "cpu", "13", "memory", "1Gi")
	pod.Labels["app"], pod.Spec.PriorityClassName, pod.Spec.RestartPolicy = "filler", "", corev1.RestartPolicyAlways
	if _, err := client.AppsV1().Deployments(low).Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "filler"},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(1)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "filler"}},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: pod.Labels}, Spec: pod.Spec},
		},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.AppsV1().Deployments(low).Delete(context.Background(), "filler", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	awaitBound(t, patience, low, 1, 0)
	list, err := client.CoreV1().Pods(low).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	victim := list.Items[0].Name
	urgent := demand(high, "urgent", pool, "cpu", "8", "memory", "1Gi")
	if _, err := client.CoreV1().Pods(high).Create(t.Context(), urgent, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	awaitBound(t, patience, high, 1, 0)

	sandboxtest.Eventually(t, patience, func() error {
		told := answer[diagnosticsv1alpha1.PodTimeline](t, "PodTimeline", "events", "urgent", "-n", high)
		if !toldOf(told.Entries, "PreemptsPod", low+"/"+victim) {
			return fmt.Errorf("of the pod is told %+v", told.Entries)
		}
		return nil
	})
	result := koordctl(t, 0, "events", "pod", "urgent", "-n", high, "--as", user)
	if strings.Contains(result.Stdout, victim) || !strings.Contains(result.Stderr, "in other namespaces is unknown") {
		t.Errorf("a user of one namespace is told\n%s%s", result.Stdout, result.Stderr)
	}

	gone := answer[diagnosticsv1alpha1.PodTimeline](t, "PodTimeline", "events", victim, "-n", low)
	if !toldOf(gone.Entries, "Preempted") || !toldOf(gone.Entries, "Scheduled", victim) || !strings.Contains(strings.Join(gone.Notes, " "), "does not exist anymore") {
		t.Errorf("of the pod that is gone is told %+v, with notes %q", gone.Entries, gone.Notes)
	}
	deployment := answer[diagnosticsv1alpha1.ObjectTimeline](t, "ObjectTimeline", "events", "filler", "-n", low)
	if !toldOf(deployment.Entries, "ObjectCreated") || !toldOf(deployment.Entries, "SuccessfulCreate", victim) || !toldOf(deployment.Entries, "Preempted") {
		t.Errorf("of the deployment is told %+v", deployment.Entries)
	}
	node := answer[diagnosticsv1alpha1.ObjectTimeline](t, "ObjectTimeline", "events", "node/sim-0001")
	if !toldOf(node.Entries, "ObjectCreated") || node.Object.Kind != "Node" {
		t.Errorf("of the node is told %+v", node)
	}
}
