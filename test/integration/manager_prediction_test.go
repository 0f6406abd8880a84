package integration

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/decision/core/configmerge"
)

// reportPod has a koordlet say what one service of a machine uses; the rest of the machine is idle.
func reportPod(ctx context.Context, node string, cpus int) error {
	patch := fmt.Sprintf(`{"status":{"updateTime":%q,"nodeMetric":{"nodeUsage":{"resources":{"cpu":"%d","memory":"2Gi"}},
		"systemUsage":{"resources":{"cpu":"100m","memory":"1Gi"}}},"podsMetric":[{"namespace":"shop","name":"web","podUsage":{"resources":{"cpu":"%d","memory":"1Gi"}}}]}}`,
		time.Now().Format(time.RFC3339), cpus+1, cpus)
	_, err := dynamicClient.Resource(metricResource).Patch(ctx, node, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
	return err
}

// TestAPoolWithAPredictorKeepsWhatItsServicesNeedAgain has two machines whose service used six cpus and then uses one: the one
// in the pool with a predictor offers five cpus less than the other.
func TestAPoolWithAPredictorKeepsWhatItsServicesNeedAgain(t *testing.T) {
	const pool = "predicted"
	names := machines(t, pool, 2, func(node *corev1.Node) {
		if node.Name[len(node.Name)-1] == '0' {
			node.Labels["predictor"] = "aggressive"
		}
	})
	text := colocate(t, map[string]any{"name": "predicted", "nodeSelector": map[string]any{"matchLabels": map[string]any{"predictor": "aggressive"}},
		"extensions": map[string]any{"predictor": map[string]any{"batch": "aggressive", "coldStartMinutes": 0}}})
	config := parsed(t, map[string]string{"colocation-config": text})
	offering := func(node string, cpus int, less int64) {
		t.Helper()
		awaitNode(t, node, func(now *corev1.Node) error {
			// Again and again, for machines are reported as idle every minute.
			if err := reportPod(t.Context(), node, cpus); err != nil {
				return err
			}
			want := intended(config, now, metricOf(t, node))
			if got := offerOf(now); got[0] != want[0]-less {
				return fmt.Errorf("%s offers %d of batch-cpu while its service uses %d cpus, want %d", node, got[0], cpus, want[0]-less)
			}
			return nil
		})
	}
	for i, name := range names {
		t.Run([]string{"with a predictor", "without"}[i], func(t *testing.T) {
			offering(name, 6, 0)
			offering(name, 1, []int64{5000, 0}[i])
		})
	}
	if layer := configmerge.LayerOf(config.Colocation(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"predictor": "aggressive"}}}).Settings, "extensions.predictor.batch"); layer != "node strategy predicted" {
		t.Errorf("the predictor comes from %s", layer)
	}
}
