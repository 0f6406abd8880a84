package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/test/sandboxtest"
)

// TestAChangedConfigurationDoesWhatItsForecastSays has a batch pod wait for want of batch-cpu, asks whether it gets a node when more CPU is
// reclaimed, and reclaims more.
func TestAChangedConfigurationDoesWhatItsForecastSays(t *testing.T) {
	const pool = "it-reclaim"
	raise := reclaiming(t, keepConfiguration(t), pool, 85)
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

	forecast := answer[diagnosticsv1alpha1.PlacementForecast](t, "PlacementForecast", "whatif", "config", "-f", raise)
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

	koordctl(t, 0, "config", "apply", "-f", raise, "--yes", "--force-conflicts") // tests before this one wrote to it, too
	awaitBound(t, patience, namespace, 3, 0)
}

// reclaiming writes a file with the configuration as it is, but with another reclaim threshold on the nodes of a pool.
func reclaiming(t *testing.T, before map[string]string, pool string, percent int) string {
	t.Helper()
	var colocation map[string]any
	if err := json.Unmarshal([]byte(before[configuration.ColocationConfigKey]), &colocation); err != nil {
		t.Fatal(err)
	}
	others, _ := colocation["nodeConfigs"].([]any)
	colocation["nodeConfigs"] = append(others, map[string]any{
		"name": pool, "nodeSelector": map[string]any{"matchLabels": map[string]any{"pool": pool}}, "cpuReclaimThresholdPercent": percent,
	})
	text, err := json.Marshal(colocation)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": configName, "namespace": systemNamespace},
		"data": map[string]string{configuration.ColocationConfigKey: string(text)},
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
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
