package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// measurement is what a koordlet says: how long ago it measured, and what.
type measurement struct {
	age         time.Duration
	cpu, memory string
}

func (m measurement) report(ctx context.Context, node string) error {
	patch := fmt.Sprintf(`{"status":{"updateTime":%q,"nodeMetric":{"nodeUsage":{"resources":{"cpu":%q,"memory":%q}}}}}`,
		time.Now().Add(-m.age).Format(time.RFC3339), m.cpu, m.memory)
	_, err := dynamicClient.Resource(metricResource).Patch(ctx, node, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
	return err
}

// reports has a machine report one measurement after the other, many times, and returns how many reports there were.
func reports(t *testing.T, name string, rounds int, what ...measurement) (count int) {
	t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for range rounds {
		for _, m := range what {
			if err := m.report(t.Context(), name); err != nil {
				t.Fatal(err)
			}
			count++
			<-tick.C
		}
	}
	return count
}

// TestAFlappingNodeMetricNeverOffersMoreThanFreshOnesAllow alternates measurements that are fresh with such that are too old,
// from the future, or cannot be true: the node offers what the fresh ones allow or nothing, and soon nothing, until they are
// steady again. Small changes are not written at all. The pool has a short report interval, so that what is held back is not
// held back for minutes.
func TestAFlappingNodeMetricNeverOffersMoreThanFreshOnesAllow(t *testing.T) {
	const pool = "flapping"
	name := machines(t, pool, 1, func(node *corev1.Node) { node.Labels[flappingLabel] = "true" })[0]
	config := parsed(t, withFlappingPool(t, keepConfiguration(t), pool))
	nodes := follow(t, nodeResource, "")
	offered := func(m measurement) offer {
		t.Helper()
		var want offer
		awaitNode(t, name, func(node *corev1.Node) error {
			// Again and again, for machines are reported as idle every minute.
			if err := m.report(t.Context(), name); err != nil {
				return err
			}
			want = intended(config, node, metricOf(t, name))
			if got := offerOf(node); got != want {
				return fmt.Errorf("the node offers %v with %+v, want %v", got, m, want)
			}
			return nil
		})
		return want
	}
	idle, busy := measurement{0, "100m", "1Gi"}, measurement{0, "4", "16Gi"}
	most, less := offered(idle), offered(busy)
	stale, future, absurd := measurement{time.Hour, "100m", "1Gi"}, measurement{-time.Hour, "100m", "1Gi"}, measurement{0, "-5", "1Gi"}
	nothing := offered(stale)
	for _, bad := range []measurement{future, absurd} {
		if got := offered(bad); got != nothing || got[0] > 0 || got[1] > 0 {
			t.Errorf("a node with measurement %+v offers %v", bad, got)
		}
	}

	t.Run("between fresh, stale and absurd", func(t *testing.T) {
		offered(busy)
		before := len(nodes.catchUp(t)[name])
		count := reports(t, name, 6, busy, stale, idle, future, busy, absurd)
		offered(absurd)
		offered(idle)
		versions := nodes.catchUp(t)[name][before:]
		changes, last := 0, less
		for _, version := range versions {
			got := offerOf(as[corev1.Node](t, version))
			if got != nothing && got != most && got != less {
				t.Errorf("the node offers %v, which no measurement allows", got)
			}
			if got != last {
				changes++
			}
			last = got
		}
		t.Logf("%d reports, %d changes of the offer", count, changes)
		// Three times taken back before the wait is longer than the measurements keep still, each offered again, and steady
		// in the end; the offers in between may change with the use.
		if changes == 0 || changes > 12 {
			t.Errorf("the offer changed %d times in %d reports", changes, count+1)
		}
	})
	t.Run("by little", func(t *testing.T) {
		offered(idle)
		before := len(nodes.catchUp(t)[name])
		slightly := measurement{0, "300m", "1100Mi"}
		reports(t, name, 8, slightly, idle)
		want := offered(busy) // shows that everything before has been seen
		for _, version := range nodes.catchUp(t)[name][before:] {
			if got := offerOf(as[corev1.Node](t, version)); got != most && got != want {
				t.Errorf("the node offers %v although little changed", got)
			}
		}
	})
	if got := offered(idle); got != most {
		t.Errorf("in the end the node offers %v, want %v", got, most)
	}
}

// withFlappingPool lets the agents of a pool report every second, and believes a report for a minute.
func withFlappingPool(t *testing.T, data map[string]string, pool string) map[string]string {
	t.Helper()
	var colocation map[string]any
	if err := json.Unmarshal([]byte(data["colocation-config"]), &colocation); err != nil {
		t.Fatal(err)
	}
	entries, _ := colocation["nodeConfigs"].([]any)
	colocation["nodeConfigs"] = append([]any{map[string]any{"name": pool, "nodeSelector": map[string]any{"matchLabels": map[string]any{flappingLabel: "true"}},
		"metricReportIntervalSeconds": 1, "degradeTimeMinutes": 1}}, entries...)
	text, err := json.Marshal(colocation)
	if err != nil {
		t.Fatal(err)
	}
	configure(t, map[string]string{"colocation-config": string(text)})
	out := maps.Clone(data)
	out["colocation-config"] = string(text)
	return out
}

// flappingLabel selects the nodes whose measurements flap.
const flappingLabel = "integration.koordinator.sh/flapping"
