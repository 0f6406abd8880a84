package nodevalidation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/finding"
)

const prefix = "node.koordinator.sh/"

// node has 8 cpus, and labels or annotations: a key with @ before it is an annotation.
func node(pairs ...string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{}, Annotations: map[string]string{}}}
	n.Status.Capacity = corev1.ResourceList{"cpu": resource.MustParse("8"), "memory": resource.MustParse("16Gi")}
	for i := 0; i < len(pairs); i += 2 {
		if key, ok := strings.CutPrefix(pairs[i], "@"); ok {
			n.Annotations[full(key)] = pairs[i+1]
		} else {
			n.Labels[full(pairs[i])] = pairs[i+1]
		}
	}
	return n
}

func full(key string) string {
	if strings.Contains(key, "/") {
		return key
	}
	return prefix + key
}

func TestNodesAreRefusedWithACode(t *testing.T) {
	usage := "scheduling.koordinator.sh/usage-thresholds"
	tests := map[string]struct {
		node *corev1.Node
		want []string
	}{
		"nothing of ours": {node(), nil},
		"all of it": {node("cpu-bind-policy", "FullPCPUsOnly", "numa-topology-policy", "SingleNUMANode", "numa-allocate-strategy", "DistributeEvenly", "cpu-reclaim-ratio", "0.7",
			"@reservation", `{"resources":{"cpu":"2"},"reservedCPUs":"0-1","applyPolicy":"ReservedCPUsOnly"}`, "@resource-amplification-ratio", `{"cpu":1.50}`,
			"@raw-allocatable", `{"cpu":"8"}`, "@cpu-normalization-ratio", "1.20", "@colocation-strategy", `{"cpuReclaimThresholdPercent":80}`,
			"@system-qos-resource", `{"cpuset":"2-3"}`, "@"+usage, `{"usageThresholds":{"cpu":70}}`), nil},
		"a NUMA policy that does not exist":    {node("numa-topology-policy", "Strict"), []string{`numa-topology-policy: must be one of None, BestEffort, Restricted, SingleNUMANode, is "Strict" (KOORD0203)`}},
		"a bind policy that does not exist":    {node("cpu-bind-policy", "Full"), []string{"cpu-bind-policy: must be one of None, FullPCPUsOnly, SpreadByPCPUs"}},
		"amplification that is no JSON":        {node("@resource-amplification-ratio", `cpu=1.5`), []string{"resource-amplification-ratio: "}},
		"amplification below one":              {node("@resource-amplification-ratio", `{"cpu":0.5}`), []string{"the ratio of cpu must be at least 1, is 0.5 (KOORD0203)"}},
		"amplification of what cannot be":      {node("@resource-amplification-ratio", `{"pods":2}`), []string{"pods cannot be amplified, only cpu and memory can (KOORD0209)"}},
		"raw allocatable that is negative":     {node("@raw-allocatable", `{"cpu":"-1"}`), []string{"cpu must not be negative, is -1 (KOORD0203)"}},
		"raw allocatable that is no quantity":  {node("@raw-allocatable", `{"cpu":"many"}`), []string{"(KOORD0201)"}},
		"a reservation that is no JSON":        {node("@reservation", `{`), []string{"(KOORD0201)"}},
		"a reservation of cpus that are none":  {node("@reservation", `{"reservedCPUs":"a-b"}`), []string{"(KOORD0201)"}},
		"a reservation larger than the node":   {node("@reservation", `{"resources":{"cpu":"9"}}`), []string{"9 of cpu is reserved, more than the node's capacity of 8 (KOORD0209)"}},
		"more reserved cpus than the node has": {node("@reservation", `{"reservedCPUs":"0-8"}`), []string{"reservedCPUs lists 9 CPUs, but the node has only 8 (KOORD0209)"}},
		"reserved cpus only, and none":         {node("@reservation", `{"applyPolicy":"ReservedCPUsOnly"}`), []string{"applyPolicy is ReservedCPUsOnly, but reservedCPUs is empty (KOORD0209)"}},
		"an apply policy that does not exist":  {node("@reservation", `{"applyPolicy":"All"}`), []string{`applyPolicy must be one of Default, ReservedCPUsOnly, is "All" (KOORD0203)`}},
		"cpus reserved twice":                  {node("@reservation", `{"reservedCPUs":"0-2"}`, "@system-qos-resource", `{"cpuset":"2-3"}`), []string{"CPUs 2 are both reserved and exclusive to SYSTEM pods (KOORD0209)"}},
		"cpus shared with SYSTEM pods":         {node("@reservation", `{"reservedCPUs":"0-2"}`, "@system-qos-resource", `{"cpuset":"2-3","cpusetExclusive":false}`), nil},
		"a strategy out of range":              {node("@colocation-strategy", `{"degradeTimeMinutes":0}`), []string{"degradeTimeMinutes must be at least 1 and at most 10080, is 0 (KOORD0203)"}},
		"a strategy that is no JSON":           {node("@colocation-strategy", `on`), []string{"colocation-strategy: is not valid JSON"}},
		"a ratio that is no number":            {node("cpu-reclaim-ratio", "most"), []string{"cpu-reclaim-ratio: "}},
		"a normalization ratio above five":     {node("@cpu-normalization-ratio", "7"), []string{"must be at least 1 and at most 5, is 7 (KOORD0203)"}},
		"a threshold above a hundred":          {node("@"+usage, `{"aggregatedUsage":{"usageThresholds":{"cpu":170}}}`), []string{"aggregatedUsage.usageThresholds.cpu must be at least 0 and at most 100, is 170 (KOORD0203)"}},
		"everything at once":                   {node("gpu-partition-policy", "No", "@reservation", `{`, "@raw-allocatable", `[]`), []string{"gpu-partition-policy", "reservation", "raw-allocatable"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := Validate(Input{Node: test.node})
			if len(got) != len(test.want) {
				t.Fatalf("findings are %+v, want %q", got, test.want)
			}
			for i, f := range got {
				if !strings.Contains(f.Text(), test.want[i]) {
					t.Errorf("finding is %q, want %q", f.Text(), test.want[i])
				}
				if _, ok := finding.Lookup(f.Code); !ok {
					t.Errorf("%s is not in the catalogue", f.Code)
				}
				if !known(f.Keys) {
					t.Errorf("%v are not among the keys that are looked at", f.Keys)
				}
			}
			if again := Validate(Input{Node: test.node, Old: test.node}); len(again) > 0 {
				t.Errorf("an update that changes nothing has findings %+v", again)
			}
			if broken := Validate(Input{Node: test.node, Old: node()}); cmp.Diff(got, broken) != "" {
				t.Errorf("an update from a sound node: %s", cmp.Diff(got, broken))
			}
		})
	}
}

func known(keys []string) bool {
	labels, annotations := Keys()
	all := map[string]bool{}
	for _, key := range append(labels, annotations...) {
		all[key] = true
	}
	for _, key := range keys {
		if !all[key] {
			return false
		}
	}
	return true
}

// TestAnUpdateOfSomethingElseIsNeverRefused changes labels that are not ours on nodes with anything in ours.
func TestAnUpdateOfSomethingElseIsNeverRefused(t *testing.T) {
	labels, annotations := Keys()
	rapid.Check(t, func(t *rapid.T) {
		n := node()
		for _, key := range labels {
			n.Labels[key] = rapid.SampledFrom([]string{"", "x", "true", "0.5", "Prefer"}).Draw(t, key)
		}
		for _, key := range annotations {
			n.Annotations[key] = rapid.OneOf(rapid.SampledFrom([]string{"", "{}", "[]", "{", "null", `{"cpu":1}`, `{"reservedCPUs":"0-900"}`}), rapid.String()).Draw(t, key)
		}
		after := n.DeepCopy()
		after.Labels["app"], after.Spec.Unschedulable = "x", true
		if got := Validate(Input{Node: after, Old: n}); len(got) > 0 {
			t.Fatalf("findings are %+v", got)
		}
	})
}
