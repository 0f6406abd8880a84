package configuration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
	"koordinator.sh/koord/decision/scheduling/loadaware"
)

// guarded is a threshold strategy without anything to say against it.
const guarded = `{"clusterStrategy": {"enable": true, "memoryEvictThresholdPercent": 97}}`

func makeNode(name string, labels ...string) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
	for i := 0; i < len(labels); i += 2 {
		node.Labels[labels[i]] = labels[i+1]
	}
	return node
}

// brief is what a test compares of a finding.
func brief(f *Finding) string {
	return fmt.Sprintf("%s %s:%d", f.Code, f.Where(), f.Line)
}

func briefs(found []Finding) []string {
	var out []string
	for i := range found {
		out = append(out, brief(&found[i]))
	}
	return out
}

// TestEveryCodeIsFoundAndNotFound has a positive and a negative case for everything that is looked for.
func TestEveryCodeIsFoundAndNotFound(t *testing.T) {
	tests := map[string]struct {
		data     map[string]string
		nodes    []*corev1.Node
		load     *loadaware.Args
		features map[string]bool
		want     []string
	}{
		"nothing is wrong with nothing": {},
		"a sound configuration":         {data: map[string]string{"colocation-config": `{"enable": true}`, "resource-threshold-config": guarded}},

		"text that is not JSON": {data: map[string]string{"system-config": "{\n  \"a\": ,\n}"}, want: []string{"KOORD0201 system-config:2"}},
		"a value out of its range": {
			data: map[string]string{"system-config": "{\"clusterStrategy\": {\n\"watermarkScaleFactor\": 401}}"},
			want: []string{"KOORD0203 system-config.clusterStrategy.watermarkScaleFactor:2"},
		},
		"an unknown key":                           {data: map[string]string{"colocation": `{}`}, want: []string{"KOORD0207 colocation:0"}},
		"an unknown field of the cluster":          {data: map[string]string{"system-config": `{"clusterStrategy": {"minFreeKBytes": 1}}`}, want: []string{"KOORD0207 system-config.clusterStrategy.minFreeKBytes:1"}},
		"a field outside of its strategy":          {data: map[string]string{"resource-threshold-config": `{"enable": false}`}, want: []string{"KOORD0207 resource-threshold-config.enable:1"}},
		"an unknown field deep in an array":        {data: map[string]string{"host-application-config": `{"applications": [{"name": "a", "qosClass": "LS"}]}`}, want: []string{"KOORD0207 host-application-config.applications[0].qosClass:1"}},
		"fields of third parties pass":             {data: map[string]string{"colocation-config": `{"extensions": {"theirs": {"a": 1}}}`}},
		"a field that stands twice":                {data: map[string]string{"system-config": "{\"clusterStrategy\": {},\n \"clusterStrategy\": {}}"}, want: []string{"KOORD0211 system-config.clusterStrategy:2"}},
		"names in another case are the same field": {data: map[string]string{"colocation-config": `{"Enable": false}`}},

		"strategies that select the same nodes, seen from the selectors": {
			data: map[string]string{"system-config": `{"nodeStrategies": [
				{"name": "a", "nodeSelector": {"matchLabels": {"x": "1"}}}, {"name": "b", "nodeSelector": {"matchLabels": {"x": "1", "y": "1"}}}]}`},
			want: []string{"KOORD0202 system-config.nodeStrategies[1]:2"},
		},
		"strategies that select different nodes": {data: map[string]string{"system-config": `{"nodeStrategies": [
				{"name": "a", "nodeSelector": {"matchLabels": {"x": "1", "y": "1"}}}, {"name": "b", "nodeSelector": {"matchLabels": {"x": "1"}}}]}`}},
		"a strategy without a selector selects nothing": {
			data: map[string]string{"system-config": `{"nodeStrategies": [{"name": "a"}]}`}, want: []string{"KOORD0210 system-config.nodeStrategies[0]:1"},
		},
		"an overlap that only nodes show": {
			data: map[string]string{"system-config": `{"nodeStrategies": [
				{"name": "a", "nodeSelector": {"matchLabels": {"x": "1"}}}, {"name": "b", "nodeSelector": {"matchLabels": {"y": "1"}}}]}`},
			nodes: []*corev1.Node{makeNode("both", "x", "1", "y", "1"), makeNode("other", "y", "1")},
			want:  []string{"KOORD0202 system-config.nodeStrategies[1]:2"},
		},
		"a strategy whose nodes are all taken, and one without nodes": {
			data: map[string]string{"system-config": `{"nodeStrategies": [
				{"name": "a", "nodeSelector": {}},
				{"name": "b", "nodeSelector": {"matchLabels": {"y": "1"}}},
				{"name": "c", "nodeSelector": {"matchLabels": {"z": "1"}}}]}`},
			nodes: []*corev1.Node{makeNode("n", "y", "1")},
			want:  []string{"KOORD0202 system-config.nodeStrategies[1]:3", "KOORD0210 system-config.nodeStrategies[1]:3", "KOORD0210 system-config.nodeStrategies[2]:4"},
		},
		"two strategies of one name": {
			data: map[string]string{"system-config": "{\"nodeStrategies\": [{\"name\": \"a\", \"nodeSelector\": {\"matchLabels\": {\"x\": \"1\"}}},\n{\"name\": \"a\", \"nodeSelector\": {\"matchLabels\": {\"x\": \"2\"}}}]}"},
			want: []string{"KOORD0211 system-config.nodeStrategies[1].name:2"},
		},
		"two applications of one name, and one that leaves its cgroup": {
			data: map[string]string{"host-application-config": `{"applications": [{"name": "a"}, {"name": "a"}, {},
				{"name": "b", "cgroupPath": {"base": "Kubepods", "relativePath": "../../system.slice"}}]}`},
			want: []string{"KOORD0211 host-application-config.applications[1].name:1", "KOORD0203 host-application-config.applications[2]:1",
				"KOORD0203 host-application-config.applications[3].cgroupPath:2"},
		},

		"settings of a feature that is off": {
			data: map[string]string{"resource-threshold-config": `{"clusterStrategy": {"cpuSuppressThresholdPercent": 50}}`},
			want: []string{"KOORD0208 resource-threshold-config.clusterStrategy.cpuSuppressThresholdPercent:1"},
		},
		"settings at the default are not missed": {data: map[string]string{"resource-threshold-config": `{"clusterStrategy": {"cpuSuppressThresholdPercent": 65}}`}},
		"settings that a node strategy switches on": {data: map[string]string{"resource-threshold-config": `{"clusterStrategy": {"cpuSuppressThresholdPercent": 50},
			"nodeStrategies": [{"name": "a", "nodeSelector": {"matchLabels": {"x": "1"}}, "enable": true, "memoryEvictThresholdPercent": 97}]}`}},
		"a lower percentage without its threshold": {
			data: map[string]string{"resource-threshold-config": `{"clusterStrategy": {"enable": true, "memoryEvictThresholdPercent": 97, "cpuEvictLowerPercent": 80}}`},
			want: []string{"KOORD0208 resource-threshold-config.clusterStrategy.cpuEvictLowerPercent:1"},
		},
		"percentages of satisfaction that koordlet does not take": {
			data: map[string]string{"resource-threshold-config": `{"clusterStrategy": {"enable": true, "memoryEvictThresholdPercent": 97,
				"cpuEvictBESatisfactionLowerPercent": 61, "cpuEvictBESatisfactionUpperPercent": 100}}`},
			want: []string{"KOORD0208 resource-threshold-config.clusterStrategy.cpuEvictBESatisfactionLowerPercent:2",
				"KOORD0208 resource-threshold-config.clusterStrategy.cpuEvictBESatisfactionUpperPercent:2"},
		},
		"the highest percentages of satisfaction": {
			data: map[string]string{"resource-threshold-config": `{"clusterStrategy": {"enable": true, "memoryEvictThresholdPercent": 97,
				"cpuEvictBESatisfactionLowerPercent": 60, "cpuEvictBESatisfactionUpperPercent": 99}}`},
		},
		"normalization without ratios": {data: map[string]string{"cpu-normalization-config": `{"enable": true}`}, want: []string{"KOORD0208 cpu-normalization-config.enable:1"}},
		"normalization with a ratio that cannot be used": {
			data: map[string]string{"cpu-normalization-config": `{"enable": true, "ratioModel": {"Xeon": {"baseRatio": 0.5}}}`},
			want: []string{"KOORD0203 cpu-normalization-config.ratioModel.Xeon.baseRatio:1"},
		},
		"amplification with a ratio that cannot be used": {
			data: map[string]string{"resource-amplification-config": `{"enable": true, "resourceAmplificationRatio": {"cpu": -1}}`},
			want: []string{"KOORD0203 resource-amplification-config.resourceAmplificationRatio.cpu:1"},
		},
		"normalization with a ratio": {data: map[string]string{"cpu-normalization-config": `{"enable": true, "ratioModel": {"Xeon": {"baseRatio": 1.2}}}`}},
		"amplification by one":       {data: map[string]string{"resource-amplification-config": `{"enable": true, "resourceAmplificationRatio": {"cpu": 1}}`}, want: []string{"KOORD0208 resource-amplification-config.enable:1"}},
		"amplification by more":      {data: map[string]string{"resource-amplification-config": `{"enable": true, "resourceAmplificationRatio": {"cpu": 1.5}}`}},
		"burst settings of another policy": {
			data: map[string]string{"cpu-burst-config": `{"clusterStrategy": {"policy": "cpuBurstOnly", "cfsQuotaBurstPercent": 200}}`},
			want: []string{"KOORD0208 cpu-burst-config.clusterStrategy.cfsQuotaBurstPercent:1"},
		},
		"burst settings of the policy": {data: map[string]string{"cpu-burst-config": `{"clusterStrategy": {"policy": "auto", "cfsQuotaBurstPercent": 200}}`}},
		"blkio without devices": {
			data: map[string]string{"resource-qos-config": `{"clusterStrategy": {"beClass": {"blkioQOS": {"enable": true}}}}`},
			want: []string{"KOORD0208 resource-qos-config.clusterStrategy.beClass.blkioQOS.enable:1"},
		},
		"a page cache limit that the node does not allow": {
			data: map[string]string{"resource-qos-config": `{"clusterStrategy": {"beClass": {"memoryQOS": {"enable": true, "pageCacheEnable": 1}}}}`},
			want: []string{"KOORD0208 resource-qos-config.clusterStrategy.beClass.memoryQOS.pageCacheEnable:1"},
		},
		"a page cache limit that the node allows": {data: map[string]string{
			"resource-qos-config": `{"clusterStrategy": {"beClass": {"memoryQOS": {"enable": true, "pageCacheEnable": 1}}}}`,
			"system-config":       `{"clusterStrategy": {"pageCacheLimitEnabled": 1}}`,
		}},
		"an agent without the feature": {
			data: map[string]string{"resource-threshold-config": guarded}, features: map[string]bool{"BECPUSuppress": true},
			want: []string{"KOORD0208 resource-threshold-config.clusterStrategy.memoryEvictThresholdPercent:1"},
		},
		"an agent with the other feature": {data: map[string]string{"resource-threshold-config": guarded}, features: map[string]bool{"MemoryEvict": true}},

		"offers that nothing holds back": {data: map[string]string{"colocation-config": `{"enable": true}`}, want: []string{"KOORD0209 colocation-config.enable:1"}},
		"cpu offered beyond where it is held back": {
			data: map[string]string{"colocation-config": `{"enable": true, "cpuReclaimThresholdPercent": 66}`, "resource-threshold-config": guarded},
			want: []string{"KOORD0209 colocation-config.cpuReclaimThresholdPercent:1"},
		},
		"cpu offered up to where it is held back": {data: map[string]string{"colocation-config": `{"enable": true, "cpuReclaimThresholdPercent": 65}`, "resource-threshold-config": guarded}},
		"memory offered up to where pods are evicted": {
			data: map[string]string{"colocation-config": `{"enable": true, "memoryReclaimThresholdPercent": 97}`, "resource-threshold-config": guarded},
			want: []string{"KOORD0209 colocation-config.memoryReclaimThresholdPercent:1"},
		},
		"eviction as by default, which is below what the scheduler takes for free": {
			data: map[string]string{"resource-threshold-config": `{"clusterStrategy": {"enable": true, "memoryEvictThresholdPercent": 70}}`},
			load: &loadaware.Args{UsageThresholds: map[corev1.ResourceName]int64{"cpu": 65, "memory": 95}},
		},
		"eviction below what the scheduler takes for free": {
			data: map[string]string{"resource-threshold-config": `{"clusterStrategy": {"enable": true, "memoryEvictThresholdPercent": 69}}`},
			want: []string{"KOORD0218 resource-threshold-config.clusterStrategy.memoryEvictThresholdPercent:1"},
		},
		"eviction from every node": {
			data: map[string]string{"resource-threshold-config": `{"clusterStrategy": {"enable": true, "memoryEvictThresholdPercent": 0, "cpuSuppressThresholdPercent": 5,
				"cpuEvictThresholdPercent": 9, "evictEnabledPriorityThreshold": 5999,
				"memoryAllocatableEvictThresholdPercent": 1, "cpuAllocatableEvictThresholdPercent": 5, "allocatableEvictPriorityThreshold": 5999}}`},
			want: []string{
				"KOORD0214 resource-threshold-config.clusterStrategy.memoryEvictThresholdPercent:1", "KOORD0214 resource-threshold-config.clusterStrategy.cpuEvictThresholdPercent:2",
				"KOORD0214 resource-threshold-config.clusterStrategy.memoryAllocatableEvictThresholdPercent:3", "KOORD0214 resource-threshold-config.clusterStrategy.cpuAllocatableEvictThresholdPercent:3",
			},
		},
		"eviction from every node, and a scheduler without thresholds": {
			data: map[string]string{"resource-threshold-config": `{"clusterStrategy": {"enable": true, "memoryEvictThresholdPercent": 7}}`},
			load: &loadaware.Args{}, want: []string{"KOORD0214 resource-threshold-config.clusterStrategy.memoryEvictThresholdPercent:1"},
		},
		"eviction from the nodes of a strategy": {
			data: map[string]string{"resource-threshold-config": `{"clusterStrategy": {"enable": true, "memoryEvictThresholdPercent": 97}, "nodeStrategies": [
				{"name": "a", "nodeSelector": {"matchLabels": {"x": "1"}}, "memoryEvictThresholdPercent": 9}]}`},
			want: []string{"KOORD0214 resource-threshold-config.nodeStrategies[0].memoryEvictThresholdPercent:2"},
		},
		"the lowest threshold that is taken for meant": {
			data: map[string]string{"resource-threshold-config": `{"clusterStrategy": {"enable": true, "memoryEvictThresholdPercent": 10}}`}, load: &loadaware.Args{},
		},
		"a threshold of an eviction without a priority": {
			data: map[string]string{"resource-threshold-config": `{"clusterStrategy": {"enable": true, "memoryEvictThresholdPercent": 97, "memoryAllocatableEvictThresholdPercent": 50}}`},
			want: []string{"KOORD0208 resource-threshold-config.clusterStrategy.memoryAllocatableEvictThresholdPercent:1"},
		},
		"a threshold of an eviction that is off": {
			data: map[string]string{"resource-threshold-config": `{"clusterStrategy": {"enable": false, "memoryEvictThresholdPercent": 50}}`},
			want: []string{"KOORD0208 resource-threshold-config.clusterStrategy.memoryEvictThresholdPercent:1"},
		},
		"a scheduler with a lower threshold": {
			data: map[string]string{"resource-threshold-config": `{"clusterStrategy": {"enable": true, "memoryEvictThresholdPercent": 95}}`},
			load: &loadaware.Args{UsageThresholds: map[corev1.ResourceName]int64{"memory": 80}},
		},
		"a conflict on one group of nodes only": {
			data: map[string]string{"colocation-config": `{"enable": true, "nodeConfigs": [
				{"name": "gold", "nodeSelector": {"matchLabels": {"x": "1"}},
				 "cpuReclaimThresholdPercent": 90}]}`, "resource-threshold-config": guarded},
			want: []string{"KOORD0209 colocation-config.nodeConfigs[0].cpuReclaimThresholdPercent:3"},
		},
		"the same nodes hold both back": {data: map[string]string{
			"colocation-config": `{"enable": true, "nodeConfigs": [
				{"name": "gold", "nodeSelector": {"matchLabels": {"x": "1"}}, "cpuReclaimThresholdPercent": 90}]}`,
			"resource-threshold-config": `{"clusterStrategy": {"enable": true, "memoryEvictThresholdPercent": 97}, "nodeStrategies": [
				{"name": "gold", "nodeSelector": {"matchLabels": {"x": "1"}}, "cpuSuppressThresholdPercent": 95}]}`,
		}},
		"a report that is too old before the next": {
			data: map[string]string{"colocation-config": `{"enable": true, "metricReportIntervalSeconds": 90, "degradeTimeMinutes": 2}`, "resource-threshold-config": guarded},
			want: []string{"KOORD0209 colocation-config.metricReportIntervalSeconds:1"},
		},
		"a report that the scheduler forgets before the next": {
			data: map[string]string{"colocation-config": `{"enable": true, "metricReportIntervalSeconds": 180}`, "resource-threshold-config": guarded},
			want: []string{"KOORD0209 colocation-config.metricReportIntervalSeconds:1"},
		},
		"a window that no node reports": {
			data: map[string]string{"colocation-config": `{"enable": true, "metricAggregatePolicy": {"durations": ["5m"]}}`, "resource-threshold-config": guarded},
			load: aggregated(time.Hour), want: []string{"KOORD0209 colocation-config.metricAggregatePolicy.durations:1"},
		},
		"a window that nodes report": {
			data: map[string]string{"colocation-config": `{"enable": true, "metricAggregatePolicy": {"durations": ["5m", "1h"]}}`, "resource-threshold-config": guarded},
			load: aggregated(time.Hour),
		},
		"bandwidth guaranteed twice": {
			data: map[string]string{
				"resource-qos-config": "{\"clusterStrategy\": {" + network("lsClass", `"egressRequest": "600M"`) + ",\n" + network("beClass", `"egressRequest": "600M"`) + "}}",
				"system-config":       `{"clusterStrategy": {"totalNetworkBandwidth": "1G"}}`,
			},
			want: []string{"KOORD0209 resource-qos-config.clusterStrategy.lsClass.networkQOS.egressRequest:1"},
		},
		"bandwidth that two classes fill": {data: map[string]string{
			"resource-qos-config": `{"clusterStrategy": {` + network("lsClass", `"egressRequest": "600M", "ingressRequest": "1G"`) + "," + network("beClass", `"egressRequest": 40`) + "}}",
			"system-config":       `{"clusterStrategy": {"totalNetworkBandwidth": "1G"}}`,
		}},
		"bandwidth in percent and in bits": {
			data: map[string]string{
				"resource-qos-config": `{"clusterStrategy": {` + network("lsClass", `"ingressRequest": 41`) + "," + network("systemClass", `"ingressRequest": "600M"`) + "}}",
				"system-config":       `{"clusterStrategy": {"totalNetworkBandwidth": "1G"}}`,
			},
			want: []string{"KOORD0209 resource-qos-config.clusterStrategy.lsClass.networkQOS.ingressRequest:1"},
		},
		"one class alone beyond the bandwidth": {
			data: map[string]string{
				"resource-qos-config": `{"clusterStrategy": {` + network("lsClass", `"egressRequest": "2G"`) + "}}",
				"system-config":       `{"clusterStrategy": {"totalNetworkBandwidth": "1G"}}`,
			},
			want: []string{"KOORD0209 resource-qos-config.clusterStrategy.lsClass.networkQOS.egressRequest:1"},
		},
		"bandwidth of nodes whose card counts": {data: map[string]string{
			"resource-qos-config": `{"clusterStrategy": {` + network("lsClass", `"egressRequest": "600M"`) + "," + network("beClass", `"egressRequest": "600M"`) + "}}",
		}},
		"nodes with less bandwidth than the others": {
			data: map[string]string{
				"resource-qos-config": `{"clusterStrategy": {` + network("lsClass", `"egressRequest": "600M"`) + "," + network("beClass", `"egressRequest": "600M"`) + "}}",
				"system-config": `{"clusterStrategy": {"totalNetworkBandwidth": "10G"}, "nodeStrategies": [
					{"name": "old", "nodeSelector": {"matchLabels": {"x": "1"}}, "totalNetworkBandwidth": "1G"}]}`,
			},
			nodes: []*corev1.Node{makeNode("new"), makeNode("old", "x", "1")},
			want:  []string{"KOORD0209 resource-qos-config.clusterStrategy.lsClass.networkQOS.egressRequest:1"},
		},
		"nothing is concluded from what cannot be read": {
			data: map[string]string{"colocation-config": `{"enable": true, "cpuReclaimThresholdPercent": 50}`, "resource-threshold-config": `{"clusterStrategy": {"enable": "yes"}}`},
			want: []string{"KOORD0201 resource-threshold-config.clusterStrategy.enable:1"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Validate(Input{Data: tc.data, Nodes: tc.nodes, LoadAware: tc.load, Features: tc.features})
			if diff := cmp.Diff(tc.want, briefs(got)); diff != "" {
				t.Errorf("findings (-want +got):\n%s\n%+v", diff, got)
			}
			for _, f := range got {
				if f.Cause == "" || f.Fix == "" || f.Message == "" || f.Severity == "" {
					t.Errorf("%s lacks a part: %+v", brief(&f), f)
				}
			}
		})
	}
}

// network is a class of resource-qos-config with bandwidth.
func network(class, settings string) string {
	return fmt.Sprintf(`%q: {"networkQOS": {"enable": true, %s}}`, class, settings)
}

func TestGuaranteesThatCannotBeKeptAreRefused(t *testing.T) {
	got := Validate(Input{
		Data: map[string]string{
			"resource-qos-config": `{"clusterStrategy": {` + network("lsClass", `"egressRequest": "600M"`) + "," + network("beClass", `"egressRequest": 50`) + "}}",
			"system-config":       `{"clusterStrategy": {"totalNetworkBandwidth": "10G"}, "nodeStrategies": [{"name": "old", "nodeSelector": {"matchLabels": {"x": "1"}}, "totalNetworkBandwidth": "1G"}]}`,
		},
		Nodes: []*corev1.Node{makeNode("new"), makeNode("old", "x", "1"), makeNode("older", "x", "1")},
	})
	if len(got) != 1 || !got[0].Rejects() {
		t.Fatalf("findings %+v, want one error", got)
	}
	const want = "the classes' networkQOS.egressRequest add up to 1100M bits per second, which is more than system-config.totalNetworkBandwidth (1G)"
	if got[0].Message != want || got[0].Nodes != 2 || len(got[0].Layers) != 1 || !strings.Contains(got[0].Layers[0], "old") {
		t.Errorf("got %q on %d nodes of %v, want %q on 2 of old", got[0].Message, got[0].Nodes, got[0].Layers, want)
	}
	if len(got[0].Evidence) != 3 {
		t.Errorf("evidence %v, want both requests and the total", got[0].Evidence)
	}
}

func aggregated(window time.Duration) *loadaware.Args {
	args := loadaware.DefaultArgs()
	args.Aggregated = &loadaware.AggregatedArgs{UsageAggregatedDuration: metav1.Duration{Duration: window}}
	return args
}

func TestOverlapsAreErrorsWhereNodesShowThem(t *testing.T) {
	data := map[string]string{"system-config": `{"nodeStrategies": [
		{"name": "a", "nodeSelector": {"matchLabels": {"x": "1"}}}, {"name": "b", "nodeSelector": {"matchLabels": {"x": "1", "y": "1"}}}]}`}
	for name, test := range map[string]struct {
		nodes       []*corev1.Node
		wantRejects bool
		want        []string
	}{
		"no node is known":            {want: []string{"KOORD0202 system-config.nodeStrategies[1]:2"}},
		"a node that both select":     {nodes: []*corev1.Node{makeNode("n", "x", "1", "y", "1"), makeNode("m", "x", "1")}, wantRejects: true, want: []string{"KOORD0202 system-config.nodeStrategies[1]:2", "KOORD0210 system-config.nodeStrategies[1]:2"}},
		"nodes that only one selects": {nodes: []*corev1.Node{makeNode("m", "x", "1")}, want: []string{"KOORD0210 system-config.nodeStrategies[1]:2"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := Validate(Input{Data: data, Nodes: test.nodes})
			if diff := cmp.Diff(test.want, briefs(got)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if rejects := HasErrors(got); rejects != test.wantRejects {
				t.Errorf("keeps it from being written: %t, want %t", rejects, test.wantRejects)
			}
		})
	}
}

func TestEvidenceSaysWhereEachValueComesFrom(t *testing.T) {
	got := Validate(Input{Data: map[string]string{
		"colocation-config":         "{\n  \"enable\": true,\n  \"cpuReclaimThresholdPercent\": 90\n}",
		"resource-threshold-config": guarded,
	}})
	if len(got) != 1 {
		t.Fatalf("findings %v", briefs(got))
	}
	want := []Evidence{
		{Key: "colocation-config", Path: "cpuReclaimThresholdPercent", Value: "90", Layer: "cluster", Line: 3},
		{Key: "resource-threshold-config", Path: "cpuSuppressThresholdPercent", Value: "65", Layer: "default"},
	}
	if diff := cmp.Diff(want, got[0].Evidence); diff != "" {
		t.Errorf("evidence (-want +got):\n%s", diff)
	}
}

func TestBuiltInNumbersHaveNoFindings(t *testing.T) {
	if got := Validate(Input{Data: map[string]string{"resource-threshold-config": `{"clusterStrategy": {"enable": true}}`}}); len(got) > 0 {
		t.Errorf("got %+v", got)
	}
}

func TestFullAndMinimalAreSound(t *testing.T) {
	full, err := Full()
	if err != nil {
		t.Fatal(err)
	}
	if got := Validate(Input{Data: full}); len(got) > 0 {
		t.Errorf("the full configuration has findings: %v", briefs(got))
	}
	for _, key := range configuration.Keys() {
		if full[key] == "" {
			t.Errorf("the full configuration lacks %s", key)
		}
	}
	for _, f := range Validate(Input{Data: Minimal()}) {
		if f.Severity != diagnosticsv1alpha1.SeverityInfo {
			t.Errorf("the minimal configuration has %s", brief(&f))
		}
	}
}

// TestRulesNameFieldsThatExist keeps a rule from watching a setting that was misspelled.
func TestRulesNameFieldsThatExist(t *testing.T) {
	check := func(key, path string) {
		if slices.Contains([]string{"resourceAmplificationRatio", "ratioModel"}, path) || strings.HasSuffix(path, ".blocks") {
			return
		}
		parsed, err := ParseKeyPath(JoinKey(key, path))
		if err != nil {
			t.Errorf("%s: %v", JoinKey(key, path), err)
			return
		}
		if _, ok := FieldOf(parsed); !ok {
			t.Errorf("%s is no field", parsed)
		}
	}
	for _, class := range networkClasses {
		check(qosKey, class+".networkQOS.ingressRequest")
		check(qosKey, class+".networkQOS.egressRequest")
	}
	check(systemKey, "totalNetworkBandwidth")
	for _, rule := range prerequisites(map[string]bool{}) {
		for _, missing := range rule.missing {
			check(missing.key, missing.path)
		}
	}
	for _, feature := range nodefeature.All() {
		for _, path := range feature.Settings.Paths {
			check(feature.Settings.Key, path)
		}
	}
}

func FuzzValidate(f *testing.F) {
	f.Add("colocation-config", `{"enable":true,"nodeConfigs":[{"name":"a","nodeSelector":{"matchLabels":{"a":"b"}},"degradeTimeMinutes":-3}]}`)
	f.Add("resource-qos-config", `{"clusterStrategy":{"beClass":{"networkQOS":{"enable":true,"ingressRequest":"1e999"}}}}`)
	f.Add("host-application-config", `{"applications":[{"cgroupPath":{"relativePath":".."}}],"nodeConfigs":[{"applications":[{}]}]}`)
	f.Add("system-config", `{"nodeStrategies":[null,{"nodeSelector":null},7]}`)
	f.Fuzz(func(t *testing.T, key, text string) {
		node := makeNode("n", "a", "b")
		for _, nodes := range [][]*corev1.Node{nil, {node}} {
			for _, found := range Validate(Input{Data: map[string]string{key: text}, Nodes: nodes}) {
				if found.Message == "" || found.Code == "" {
					t.Errorf("a finding without message or code: %+v", found)
				}
				if lines := strings.Count(text, "\n") + 1; found.Key == key && found.Line > lines {
					t.Errorf("line %d of %d", found.Line, lines)
				}
			}
		}
	})
}
