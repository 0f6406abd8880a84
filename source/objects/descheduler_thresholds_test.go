package objects

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestThresholdsAreThoseOfEachPool: as PLUGIN POOL LOW HIGH, with the nodes that they hold for.
func TestThresholdsAreThoseOfEachPool(t *testing.T) {
	const two = "nodePools: [{name: gold, nodeSelector: {matchLabels: {pool: gold}}, lowThresholds: {cpu: 20}, highThresholds: {cpu: 40}}, " +
		"{name: rest, lowThresholds: {cpu: 30}, highThresholds: {cpu: 50}}]"
	tests := map[string]struct {
		profiles string
		more     string
		want     []string
	}{
		"one pool":                {profile("LowNodeLoad", "lowThresholds: {cpu: 45}, highThresholds: {cpu: 75}"), "", []string{"LowNodeLoad  map[cpu:45] map[cpu:75]: gold silver"}},
		"those of prod pods":      {profile("LowNodeLoad", prod), "", []string{"LowNodeLoad  map[cpu:45 memory:55] map[cpu:75 memory:80] prod map[cpu:10] map[cpu:30]: gold silver"}},
		"distances from the mean": {profile("LowNodeLoad", fromMean), "", []string{"LowNodeLoad  map[cpu:10] map[cpu:10] of the mean: gold silver"}},
		"a pool takes nodes from the next": {
			profile("LowNodeLoad", two), "",
			[]string{"LowNodeLoad gold map[cpu:20] map[cpu:40]: gold", "LowNodeLoad rest map[cpu:30] map[cpu:50]: silver", "LowNodeLoad  map[] map[]:"},
		},
		"a plugin that is paused has none": {profile("LowNodeLoad", "paused: true, "+two) + profile("LoadAwareRebalancing", "paused: true"), "", nil},
		"the planner compares no low ones": {profile("LoadAwareRebalancing", "targetMarginPercent: 7"), "", []string{"LoadAwareRebalancing  map[] map[cpu:75 memory:80] planned margin 7: gold silver"}},
		"the mode of before does":          {profile("LoadAwareRebalancing", "mode: Upstream"), "", []string{"LoadAwareRebalancing  map[cpu:45 memory:55] map[cpu:75 memory:80] margin 5: gold silver"}},
		"its selector": {
			profile("LoadAwareRebalancing", "nodeSelector: {matchLabels: {pool: gold}}"), "",
			[]string{"LoadAwareRebalancing  map[] map[cpu:75 memory:80] planned margin 5: gold"},
		},
		"the selector of the descheduler": {
			profile("LoadAwareRebalancing", ""), "nodeSelector: {matchLabels: {pool: silver}}",
			[]string{"LoadAwareRebalancing  map[] map[cpu:75 memory:80] planned margin 5: silver"},
		},
		"that of a profile": {
			"- nodeSelector: {matchLabels: {pool: silver}}\n" + strings.Replace(profile("LoadAwareRebalancing", ""), "- ", "  ", 1), "",
			[]string{"LoadAwareRebalancing  map[] map[cpu:75 memory:80] planned margin 5: silver"},
		},
		"plugins that do not look at usage": {profile("RemoveDuplicates", ""), "", nil},
	}
	nodes := []corev1.Node{node("gold", inPool("gold")), node("silver", inPool("silver"))}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			read, err := ReadDescheduler(map[string]string{DeschedulerConfigMap: tc.more + "\nprofiles:\n" + tc.profiles})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range read.Thresholds() {
				line := fmt.Sprintf("%s %s %v %v", d.Plugin, d.Pool, d.Low, d.High)
				if len(d.ProdLow)+len(d.ProdHigh) > 0 {
					line += fmt.Sprintf(" prod %v %v", d.ProdLow, d.ProdHigh)
				}
				if d.Deviation {
					line += " of the mean"
				}
				if d.Planned {
					line += " planned"
				}
				if d.Margin > 0 {
					line += fmt.Sprintf(" margin %g", d.Margin)
				}
				line += ":"
				for i := range nodes {
					if d.Selects(&nodes[i]) {
						line += " " + nodes[i].Name
					}
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("thresholds (-want +got):\n%s", diff)
			}
		})
	}
}

func TestASelectorThatCannotBeReadSelectsAllNodes(t *testing.T) {
	d := ShippedDescheduler("koordinator-system")
	d.Profiles[0].Rebalance.NodeSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "pool", Operator: "Is"}}}
	n := node("gold")
	if got := d.Thresholds(); len(got) != 1 || !got[0].Selects(&n) {
		t.Errorf("thresholds %+v", got)
	}
}
