package fixes

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/agent/host/simulated"
	"koordinator.sh/koord/test/sandboxtest"
)

// awaitOthers waits until the pods that are there first have nodes, and the reservations room.
func (s scene) awaitOthers(t *testing.T) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		pods, err := client.CoreV1().Pods(s.namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range pods.Items {
			if pods.Items[i].Spec.NodeName == "" && pods.Items[i].Labels["waits"] == "" {
				return fmt.Errorf("pod %s has no node", pods.Items[i].Name)
			}
		}
		result, err := shell(t.Context(), "", s.words("kubectl get reservations -l scene=NAMESPACE -o jsonpath='{range .items[*]}{.metadata.name}={.status.phase} {end}'"))
		if err != nil {
			return err
		}
		for reservation := range strings.FieldsSeq(result.Stdout) {
			if _, phase, _ := strings.Cut(reservation, "="); phase == "" || phase == "Pending" {
				return fmt.Errorf("reservation %s has no node", reservation)
			}
		}
		return nil
	})
}

// holdUsage keeps the nodes from reporting other usage for the rest of the test: the largest request that a node has room for now
// may be too large by a thousandth of a CPU after the next report. A NodeMetric counts for three minutes.
func holdUsage(t *testing.T) {
	t.Helper()
	annotate := "kubectl annotate nodes --all --overwrite " + simulated.AnnotationFreezeMetrics
	mustRun(t, "", annotate+"=true")
	t.Cleanup(func() { mustRun(t, "", annotate+"-") })
	last := ""
	sandboxtest.Eventually(t, patience, func() error { // a report may be under way
		result, err := shell(t.Context(), "", "kubectl get nodemetrics -o jsonpath='{.items[*].metadata.resourceVersion}'")
		if before := last; err == nil && result.Stdout != before {
			last = result.Stdout
			err = fmt.Errorf("nodes still report: %s after %s", last, before)
		}
		return err
	})
}

// awaitSilence has the agents of all nodes report nothing since an hour ago.
func awaitSilence(t *testing.T) {
	t.Helper()
	annotate := "kubectl annotate nodes --all --overwrite " + simulated.AnnotationFreezeMetrics
	mustRun(t, "", annotate+"=1h")
	t.Cleanup(func() { mustRun(t, "", annotate+"-") })
	sandboxtest.Eventually(t, patience, func() error {
		ages, err := ages(t)
		if err == nil && (len(ages) == 0 || slices.Min(ages) < time.Hour) {
			err = fmt.Errorf("NodeMetrics are %s old", ages)
		}
		return err
	})
}

// ages of the NodeMetrics.
func ages(t *testing.T) ([]time.Duration, error) {
	t.Helper()
	result, err := shell(t.Context(), "", "kubectl get nodemetrics -o jsonpath='{.items[*].status.updateTime}'")
	if err != nil {
		return nil, err
	}
	var list []time.Duration
	for _, text := range strings.Fields(result.Stdout) {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return nil, err
		}
		list = append(list, time.Since(at))
	}
	return list, nil
}

// awaitReports waits until no node is about to count as one whose agent is silent.
func awaitReports(t *testing.T) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		ages, err := ages(t)
		if err == nil && (len(ages) == 0 || slices.Max(ages) > patience) {
			err = fmt.Errorf("NodeMetrics are %s old", ages)
		}
		return err
	})
}

// awaitAsked waits until the scheduler has refused the blocked pod.
func (s scene) awaitAsked(t *testing.T) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		pod, err := s.asked(t)
		if err == nil {
			err = refused(t, pod)
		}
		return err
	})
}

// awaitRefusal waits until the scheduler has refused the pod.
func awaitRefusal(t *testing.T, namespace, name string) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		pod, err := client.CoreV1().Pods(namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err == nil {
			err = refused(t, pod)
		}
		return err
	})
}

func refused(t *testing.T, pod *corev1.Pod) error {
	t.Helper()
	if pod.Spec.NodeName != "" {
		t.Fatalf("pod %s got node %s", pod.Name, pod.Spec.NodeName)
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return nil
		}
	}
	return fmt.Errorf("pod %s is not refused", pod.Name)
}

// awaitNode waits until the blocked pod, or the one that is in its place now, has a node.
func (s scene) awaitNode(t *testing.T) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		pod, err := s.asked(t)
		if err == nil && pod.Spec.NodeName == "" {
			err = fmt.Errorf("pod %s has no node: %+v", pod.Name, pod.Status.Conditions)
		}
		return err
	})
}
