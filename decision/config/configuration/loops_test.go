package configuration

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/decision/descheduling/loopguard"
	"koordinator.sh/koord/decision/scheduling/loadaware"
)

// moves is a LowNodeLoad that empties nodes above high percent of memory into those below 55.
func moves(high float64, selects func(*corev1.Node) bool) Descheduler {
	type percents = map[corev1.ResourceName]float64
	return Descheduler{Selects: selects, Descheduler: loopguard.Descheduler{Enabled: true, Plugin: "LowNodeLoad", Low: percents{"memory": 55}, High: percents{"memory": high}}}
}

func TestThresholdsThatMakePodsGoInCircles(t *testing.T) {
	evictsAt := func(percent string) map[string]string {
		return map[string]string{"resource-threshold-config": "{\"clusterStrategy\": {\"enable\": true,\n\"memoryEvictThresholdPercent\": " + percent + "}}"}
	}
	places := func(memory int64) *loadaware.Args {
		return &loadaware.Args{UsageThresholds: map[corev1.ResourceName]int64{"cpu": 65, "memory": memory}}
	}
	gold := func(node *corev1.Node) bool { return node.Labels["pool"] == "gold" }
	tests := map[string]struct {
		in Input
		// want are findings, and wantFix the fix of the first.
		want    []string
		wantFix string
	}{
		"the agent evicts above all others": {in: Input{Data: evictsAt("85"), LoadAware: places(75), Descheduler: []Descheduler{moves(80, nil)}}},
		"the agent evicts where the descheduler fills nodes": {
			in:      Input{Data: evictsAt("80"), LoadAware: places(75), Descheduler: []Descheduler{moves(80, nil)}},
			want:    []string{"KOORD0218 resource-threshold-config.clusterStrategy.memoryEvictThresholdPercent:2"},
			wantFix: "Raise resource-threshold-config.memoryEvictThresholdPercent above 80, or lower LowNodeLoad.highThresholds.memory.",
		},
		"the scheduler fills nodes that the descheduler empties, whatever the agent does": {
			in:      Input{LoadAware: places(95), Descheduler: []Descheduler{moves(80, nil)}},
			want:    []string{"KOORD0218 koord-descheduler-config.LowNodeLoad.highThresholds.memory:0"},
			wantFix: "Set LoadAwareScheduling.usageThresholds.memory to at most 80, or raise LowNodeLoad.highThresholds.memory.",
		},
		"the agent's default is not in the ConfigMap": {
			in: Input{
				Data: map[string]string{"resource-threshold-config": `{"clusterStrategy": {"enable": true}}`}, LoadAware: places(75), Descheduler: []Descheduler{moves(80, nil)},
			},
			want: []string{"KOORD0218 koord-descheduler-config.LowNodeLoad.highThresholds.memory:0"},
		},
		"an agent that does not evict": {
			in: Input{
				Data: map[string]string{"resource-threshold-config": `{"clusterStrategy": {"enable": true}}`}, LoadAware: places(75), Descheduler: []Descheduler{moves(80, nil)},
				Features: map[string]bool{"BEMemoryEvict": false},
			},
		},
		"a descheduler of other nodes": {
			in: Input{Data: evictsAt("80"), LoadAware: places(75), Descheduler: []Descheduler{moves(80, gold)}, Nodes: []*corev1.Node{makeNode("a")}},
		},
		"a descheduler of some nodes": {
			in: Input{
				Data: evictsAt("80"), LoadAware: places(75), Descheduler: []Descheduler{moves(80, gold)}, Nodes: []*corev1.Node{makeNode("a"), makeNode("b", "pool", "gold")},
			},
			want: []string{"KOORD0218 resource-threshold-config.clusterStrategy.memoryEvictThresholdPercent:2"},
		},
		"two sets of thresholds with the same fault": {
			in:   Input{LoadAware: places(95), Descheduler: []Descheduler{moves(80, nil), moves(80, nil)}},
			want: []string{"KOORD0218 koord-descheduler-config.LowNodeLoad.highThresholds.memory:0"},
		},
		"a threshold that cannot be read is not compared": {
			in:   Input{Data: evictsAt(`"x"`), LoadAware: places(75), Descheduler: []Descheduler{moves(80, nil)}},
			want: []string{"KOORD0201 resource-threshold-config.clusterStrategy.memoryEvictThresholdPercent:2"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			found := Validate(test.in)
			if diff := cmp.Diff(test.want, briefs(found)); diff != "" {
				t.Fatalf("findings (-want +got):\n%s\n%+v", diff, found)
			}
			for i := range found {
				if found[i].Fix == "" || found[i].Cause == "" || len(found[i].Evidence) == 0 {
					t.Errorf("%+v lacks a part", found[i])
				}
			}
			if test.wantFix != "" && found[0].Fix != test.wantFix {
				t.Errorf("fix %q, want %q", found[0].Fix, test.wantFix)
			}
		})
	}
}
