package configmerge

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
)

const layeredConfig = `{
  "enable": true, "cpuReclaimThresholdPercent": 70,
  "nodeConfigs": [
    {"name": "gold", "nodeSelector": {"matchLabels": {"pool": "gold"}}, "cpuReclaimThresholdPercent": 50, "memoryReclaimThresholdPercent": 50},
    {"name": "big", "nodeSelector": {"matchLabels": {"size": "big"}}, "cpuReclaimThresholdPercent": 90},
    {"nodeSelector": {"matchLabels": {"pool": "off"}}, "enable": false}
  ]
}`

func TestColocationLayers(t *testing.T) {
	type value struct{ Value, Layer string }
	tests := []struct {
		name      string
		node      *corev1.Node
		want      map[string]value
		wantCodes []finding.Code
	}{
		{
			name: "a node that matches nothing gets the cluster's values over the defaults",
			node: node("n", nil, nil),
			want: map[string]value{
				"enable":                          {"true", "cluster"},
				"cpuReclaimThresholdPercent":      {"70", "cluster"},
				"memoryReclaimThresholdPercent":   {"65", "default"},
				"metricAggregatePolicy.durations": {`["5m0s","10m0s","30m0s"]`, "default"},
			},
		},
		{
			name: "the node strategy wins over the cluster, and a strategy without a name is told by its place",
			node: node("n", map[string]string{"pool": "off"}, nil),
			want: map[string]value{
				"enable":                     {"false", "node strategy #3"},
				"cpuReclaimThresholdPercent": {"70", "cluster"},
			},
		},
		{
			name: "of two strategies that match, the first wins and the overlap is reported",
			node: node("n", map[string]string{"pool": "gold", "size": "big"}, nil),
			want: map[string]value{
				"cpuReclaimThresholdPercent":    {"50", "node strategy gold"},
				"memoryReclaimThresholdPercent": {"50", "node strategy gold"},
			},
			wantCodes: []finding.Code{finding.ConfigOverlap},
		},
		{
			name: "the node's annotation wins over strategies, and its labels over the annotation",
			node: node("n", map[string]string{"pool": "gold", extension.LabelCPUReclaimRatio: "0.75"},
				map[string]string{extension.AnnotationNodeColocationStrategy: `{"cpuReclaimThresholdPercent": 80, "degradeTimeMinutes": 5}`}),
			want: map[string]value{
				"cpuReclaimThresholdPercent":    {"75", "node label"},
				"memoryReclaimThresholdPercent": {"50", "node strategy gold"},
				"degradeTimeMinutes":            {"5", "node annotation"},
			},
		},
		{
			name: "a broken annotation is left out as a whole, and so is a broken label",
			node: node("n", map[string]string{extension.LabelMemoryReclaimRatio: "-1", extension.LabelMidStaticCPUReservedRatio: "2"},
				map[string]string{extension.AnnotationNodeColocationStrategy: `{"cpuReclaimThresholdPercent": 80, "degradeTimeMinutes": 0}`}),
			want: map[string]value{
				"cpuReclaimThresholdPercent":    {"70", "cluster"},
				"memoryReclaimThresholdPercent": {"65", "default"},
				"midStaticCPUReservedPercent":   {"0", "default"},
				"degradeTimeMinutes":            {"15", "default"},
			},
			wantCodes: []finding.Code{finding.ConfigOutOfRange, finding.ConfigOutOfRange, finding.ConfigOutOfRange},
		},
		{
			name:      "an annotation that is no JSON is reported",
			node:      node("n", nil, map[string]string{extension.AnnotationNodeColocationStrategy: `{`}),
			want:      map[string]value{"cpuReclaimThresholdPercent": {"70", "cluster"}},
			wantCodes: []finding.Code{finding.ConfigMalformed},
		},
	}
	config, problems := Parse(map[string]string{"colocation-config": layeredConfig})
	if len(problems) > 0 {
		t.Fatalf("problems: %v", problems)
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := config.Colocation(test.node)
			settings := map[string]value{}
			for _, setting := range got.Settings {
				if _, wanted := test.want[setting.Key]; wanted {
					settings[setting.Key] = value{setting.Value, setting.Layer}
				}
			}
			if diff := cmp.Diff(test.want, settings); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
			var codes []finding.Code
			for _, problem := range got.Problems {
				codes = append(codes, problem.Code)
			}
			if diff := cmp.Diff(test.wantCodes, codes, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("codes (-want +got):\n%s\n%v", diff, got.Problems)
			}
		})
	}
}

func TestNodeLayersDoNotLeakIntoOtherNodes(t *testing.T) {
	config, _ := Parse(map[string]string{"colocation-config": layeredConfig})
	special := node("special", map[string]string{"pool": "gold"}, map[string]string{
		extension.AnnotationNodeColocationStrategy: `{"enable": false, "metricAggregatePolicy": {"durations": ["1m"]}}`})
	if *config.Colocation(special).Strategy.Enable {
		t.Fatal("the annotation did not take effect")
	}
	plain := config.Colocation(node("plain", map[string]string{"pool": "gold"}, nil)).Strategy
	if !*plain.Enable || len(plain.MetricAggregatePolicy.Durations) != 3 {
		t.Errorf("another node's annotation changed this one: %+v", plain)
	}
}

// TestSettingsTellTheStrategy holds the explanation against the typed strategy: the two come out of the same merge.
func TestSettingsTellTheStrategy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := `{"cpuReclaimThresholdPercent": 70}`
		config, _ := Parse(map[string]string{"colocation-config": text})
		n := node("n", map[string]string{}, map[string]string{})
		if rapid.Bool().Draw(t, "label") {
			n.Labels[extension.LabelCPUReclaimRatio] = rapid.StringMatching(`[01]\.[0-9]{2}|nonsense|-1`).Draw(t, "ratio")
		}
		if rapid.Bool().Draw(t, "annotation") {
			n.Annotations[extension.AnnotationNodeColocationStrategy] = rapid.SampledFrom([]string{
				`{"cpuReclaimThresholdPercent": 33}`, `{"CPUReclaimThresholdPercent": 44}`, `{"cpuReclaimThresholdPercent": null}`, `nonsense`,
			}).Draw(t, "text")
		}
		got := config.Colocation(n)
		for _, setting := range got.Settings {
			if setting.Key == "cpuReclaimThresholdPercent" && setting.Value != settingText(*got.Strategy.CPUReclaimThresholdPercent) {
				t.Errorf("setting says %s, strategy %d", setting.Value, *got.Strategy.CPUReclaimThresholdPercent)
			}
		}
	})
}

func TestNodeSLO(t *testing.T) {
	config, problems := Parse(map[string]string{
		"resource-threshold-config": `{"clusterStrategy": {"enable": true, "cpuSuppressThresholdPercent": 60},
			"nodeStrategies": [{"name": "gold", "nodeSelector": {"matchLabels": {"pool": "gold"}}, "cpuSuppressThresholdPercent": 40}]}`,
		"system-config": `{"clusterStrategy": {"totalNetworkBandwidth": "10G"},
			"nodeStrategies": [{"name": "gold", "nodeSelector": {"matchLabels": {"pool": "gold"}}, "minFreeKbytesFactor": 50}]}`,
		"host-application-config": `{"applications": [{"name": "yarn", "priority": "koord-batch", "qos": "BE"}],
			"nodeConfigs": [{"name": "gold", "nodeSelector": {"matchLabels": {"pool": "gold"}}, "applications": [{"name": "nginx", "priority": "koord-prod", "qos": "LS"}]}]}`,
	})
	if len(problems) > 0 {
		t.Fatalf("problems: %v", problems)
	}
	gold := config.NodeSLO(node("n", map[string]string{"pool": "gold"}, nil))
	if got := *gold.Spec.ResourceUsedThresholdWithBE.CPUSuppressThresholdPercent; got != 40 {
		t.Errorf("cpuSuppressThresholdPercent = %d, want the strategy's 40", got)
	}
	if !*gold.Spec.ResourceUsedThresholdWithBE.Enable {
		t.Error("the cluster's enable did not come through the strategy")
	}
	if got := gold.Spec.SystemStrategy.TotalNetworkBandwidth.String(); got != "10G" {
		t.Errorf("totalNetworkBandwidth = %s: a strategy that does not name it reset the cluster's 10G", got)
	}
	if apps := gold.Spec.HostApplications; len(apps) != 1 || apps[0].Name != "nginx" {
		t.Errorf("host applications %+v, want the strategy's list in place of the cluster's", apps)
	}
	if got := *gold.Spec.CPUBurstStrategy.CPUBurstPercent; got != 1000 {
		t.Errorf("cpuBurstPercent = %d, want the default 1000", got)
	}
	plain := config.NodeSLOSpec(node("n", nil, nil))
	if got := *plain.ResourceUsedThresholdWithBE.CPUSuppressThresholdPercent; got != 60 {
		t.Errorf("cpuSuppressThresholdPercent = %d, want the cluster's 60", got)
	}
	layers := map[string]string{}
	for _, setting := range gold.Settings {
		layers[setting.Key] = setting.Layer
	}
	want := map[string]string{
		"resource-threshold-config.cpuSuppressThresholdPercent": "node strategy gold",
		"resource-threshold-config.enable":                      "cluster",
		"resource-threshold-config.memoryEvictThresholdPercent": "default",
	}
	for key, layer := range want {
		if layers[key] != layer {
			t.Errorf("layer of %s = %q, want %q", key, layers[key], layer)
		}
	}
}

func BenchmarkColocationOfPlainNode(b *testing.B) {
	config, _ := Parse(map[string]string{"colocation-config": layeredConfig})
	n := node("n", map[string]string{"size": "big", "kubernetes.io/os": "linux"}, nil)
	for b.Loop() {
		config.Colocation(n)
	}
}

func TestProblemsAsFindings(t *testing.T) {
	_, problems := Parse(map[string]string{"colocation-config": `{"degradeTimeMinutes": 0}`})
	last, _ := Parse(map[string]string{"colocation-config": layeredConfig})
	problems = append(problems, Gone(Default()).Problems()[0], Gone(last).Problems()[0], nodeProblem(finding.ConfigOutOfRange, node("n", nil, nil), extension.LabelCPUReclaimRatio, "is not a ratio"))
	type row struct{ Code, Severity, Kind, Name, Field, Hint string }
	var got []row
	for _, problem := range problems {
		f := problem.Finding("koordinator-system", "slo-controller-config")
		got = append(got, row{f.Code, string(f.Severity), f.Object.Kind, f.Object.Name, f.Object.Field, f.Hint})
	}
	want := []row{
		{"KOORD0203", "error", "ConfigMap", "slo-controller-config", "data[colocation-config]", "koordctl config edit"},
		{"KOORD0204", "warning", "ConfigMap", "slo-controller-config", "", "koordctl install"},
		{"KOORD0204", "warning", "ConfigMap", "slo-controller-config", "", "koordctl config rollback"},
		{"KOORD0203", "error", "Node", "n", "metadata[node.koordinator.sh/cpu-reclaim-ratio]", "kubectl edit node n"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}
