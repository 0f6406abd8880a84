package integration

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/test/sandboxtest"
)

// reportPeak has a koordlet say what peak of prod pods it learned.
func reportPeak(ctx context.Context, node, cpus string) error {
	patch := fmt.Sprintf(`{"status":{"updateTime":%q,"prodPeakMetric":{"resource":{"resources":{"cpu":%q,"memory":"1Gi"}}}}}`, time.Now().Format(time.RFC3339), cpus)
	_, err := dynamicClient.Resource(metricResource).Patch(ctx, node, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
	return err
}

// TestCapacityIsForecastWithForHowLong has two machines that take copies of a batch pod: in the pool of one a predictor looks an hour
// ahead, and the koordlet of the other learned that services need nearly all at times.
func TestCapacityIsForecastWithForHowLong(t *testing.T) {
	const pool = "it-outlook"
	namespace := space(t, pool)
	names := machines(t, pool, 2, func(node *corev1.Node) {
		if node.Name[len(node.Name)-1] == '0' {
			node.Labels["outlook"] = "balanced"
		}
	})
	colocate(t, map[string]any{"name": "outlook", "nodeSelector": map[string]any{"matchLabels": map[string]any{"outlook": "balanced"}},
		"extensions": map[string]any{"predictor": map[string]any{"batch": "balanced", "coldStartMinutes": 0}}})
	for _, name := range names {
		awaitNode(t, name, func(now *corev1.Node) error {
			if err := reportPod(t.Context(), name, 1); err != nil {
				return err
			}
			if offer := now.Status.Allocatable[extension.BatchCPU]; offer.Value() < 4000 {
				return fmt.Errorf("%s offers %s of batch-cpu", name, offer.String())
			}
			return nil
		})
	}
	pod := demand(namespace, "executor", pool, string(extension.BatchCPU), "1000", string(extension.BatchMemory), "256Mi")
	pod.Labels[extension.LabelPodQoS], pod.Spec.PriorityClassName = string(extension.QoSBE), string(extension.PriorityBatch)
	if _, err := client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	awaitBound(t, patience, namespace, 1, 0)

	// Again and again, for machines are reported as idle every minute.
	sandboxtest.Eventually(t, patience, func() error {
		if err := reportPeak(t.Context(), names[1], "14"); err != nil {
			return err
		}
		forecast := answer[diagnosticsv1alpha1.PlacementForecast](t, "PlacementForecast", "forecast", "capacity", "pod/executor", "-n", namespace)
		if forecast.Outlook == nil || len(forecast.Outlook.Nodes) != 2 {
			return fmt.Errorf("%s: %s; the outlook is %+v", forecast.Verdict, forecast.Message, forecast.Outlook)
		}
		predicted, learned := forecast.Outlook.Nodes[0], forecast.Outlook.Nodes[1]
		if predicted.Predictor != "balanced" || predicted.WithinSeconds != 3600 || predicted.Lasting == nil || *predicted.Lasting == 0 {
			return fmt.Errorf("of the pool with a predictor: %+v", predicted)
		}
		if learned.Predictor != "koordlet" || learned.WithinSeconds != 0 || learned.Lasting == nil || *learned.Lasting != 0 {
			return fmt.Errorf("of the node whose koordlet learned a peak: %+v", learned)
		}
		return nil
	})
}
