package integration

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/test/sandboxtest"
)

// TestAChangedConfigurationDoesWhatItsForecastSays has a batch pod wait for want of batch-cpu, asks whether it gets a node when more CPU is
// reclaimed, and reclaims more.
func TestAChangedConfigurationDoesWhatItsForecastSays(t *testing.T) {
	const pool, raise = "it-reclaim", "colocation-config.cpuReclaimThresholdPercent=85"
	keepConfiguration(t)
	namespace := space(t, pool)
	node := machines(t, pool, 1)[0]
	awaitOffered(t, node, 7000)
	for i := range 3 {
		pod := demand(namespace, fmt.Sprintf("batch-%d", i), pool, string(extension.BatchCPU), "3500", string(extension.BatchMemory), "256Mi")
		pod.Spec.PriorityClassName, pod.Labels[extension.LabelPodQoS] = "koord-batch", string(extension.QoSBE)
		if _, err := client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	awaitBound(t, patience, namespace, 2, 1)

	forecast := answer[diagnosticsv1alpha1.PlacementForecast](t, "PlacementForecast", "whatif", "config", raise)
	waiting := 0
	for i := range forecast.Waiting {
		if p := &forecast.Waiting[i]; p.Namespace == namespace {
			waiting++
			if p.Node != node || p.NodeWithout != "" {
				t.Errorf("pod %s gets node %q, and %q without the change: %s", p.Name, p.Node, p.NodeWithout, p.Summary)
			}
		}
	}
	if waiting != 1 {
		t.Errorf("%d waiting pods of the namespace, want 1: %s", waiting, forecast.Message)
	}
	awaitBound(t, patience, namespace, 2, 1)

	koordctl(t, 0, "config", "set", raise, "--yes")
	awaitBound(t, patience, namespace, 3, 0)
}

// awaitOffered waits until a node offers at least this much batch-cpu, in milli-CPUs.
func awaitOffered(t *testing.T, name string, milli int64) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		node, err := client.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if batch := node.Status.Allocatable[extension.BatchCPU]; batch.Value() < milli {
			return fmt.Errorf("%s offers %s of batch-cpu, want at least %d", name, batch.String(), milli)
		}
		return nil
	})
}
