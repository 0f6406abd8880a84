package configmerge

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/api/finding"
)

func node(name string, labels, annotations map[string]string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, Annotations: annotations}}
}

func TestParseReportsEveryProblemWithItsPlace(t *testing.T) {
	tests := []struct {
		name string
		data map[string]string
		want []Problem
	}{
		{
			name: "nothing configured is no problem",
		},
		{
			name: "keys of a newer version pass",
			data: map[string]string{
				"colocation-config": `{"enable":true,"somethingNew":{"a":[1,2]}}`,
				"yet-another-key":   `not even JSON`,
			},
		},
		{
			name: "a missing comma is found with line and column",
			data: map[string]string{"colocation-config": "{\n  \"enable\": true\n  \"degradeTimeMinutes\": 15\n}"},
			want: []Problem{{Code: finding.ConfigMalformed, Key: "colocation-config", Line: 3, Column: 3,
				Message: `is not valid JSON: invalid character '"' after object key:value pair`}},
		},
		{
			name: "a text that ends early is found at its end",
			data: map[string]string{"colocation-config": `{"enable": true`},
			want: []Problem{{Code: finding.ConfigMalformed, Key: "colocation-config", Line: 1, Column: 15,
				Message: "is not valid JSON: unexpected end of JSON input"}},
		},
		{
			name: "wrong types and values out of range are all reported at once, in the order of the text",
			data: map[string]string{"colocation-config": `{
  "enable": "yes",
  "degradeTimeMinutes": 0,
  "resourceDiffThreshold": 10,
  "midUnallocatedPercent": 101,
  "cpuCalculatePolicy": "guess",
  "nodeConfigs": [
    {"name": "big", "nodeSelector": {"matchLabels": {"a": "b"}}, "cpuReclaimThresholdPercent": -1},
    {"name": 7, "batchCPUThresholdPercent": 1.5}
  ]
}`},
			want: []Problem{
				{Code: finding.ConfigMalformed, Key: "colocation-config", Path: "enable", Line: 2, Column: 13,
					Message: `must be true or false, is "yes"`},
				{Code: finding.ConfigOutOfRange, Key: "colocation-config", Path: "degradeTimeMinutes", Line: 3, Column: 25,
					Message: "must be at least 1 and at most 10080, is 0"},
				{Code: finding.ConfigOutOfRange, Key: "colocation-config", Path: "resourceDiffThreshold", Line: 4, Column: 28,
					Message: "must be greater than 0 and at most 1, is 10"},
				{Code: finding.ConfigOutOfRange, Key: "colocation-config", Path: "midUnallocatedPercent", Line: 5, Column: 28,
					Message: "must be at least 0 and at most 100, is 101"},
				{Code: finding.ConfigOutOfRange, Key: "colocation-config", Path: "cpuCalculatePolicy", Line: 6, Column: 25,
					Message: `must be one of usage, maxUsageRequest, request, is "guess"`},
				{Code: finding.ConfigOutOfRange, Key: "colocation-config", Path: "nodeConfigs[0].cpuReclaimThresholdPercent", Line: 8, Column: 96,
					Message: "must be at least 0 and at most 200, is -1"},
				{Code: finding.ConfigMalformed, Key: "colocation-config", Path: "nodeConfigs[1].name", Line: 9, Column: 14,
					Message: "must be a string, is 7"},
				{Code: finding.ConfigMalformed, Key: "colocation-config", Path: "nodeConfigs[1].batchCPUThresholdPercent", Line: 9, Column: 45,
					Message: "must be a whole number, is 1.5"},
			},
		},
		{
			name: "a lower threshold above its upper one is found only in what comes out of the merge",
			data: map[string]string{"resource-threshold-config": `{
  "clusterStrategy": {"memoryEvictThresholdPercent": 80},
  "nodeStrategies": [{"name": "x", "nodeSelector": {}, "memoryEvictLowerPercent": 90}]
}`},
			want: []Problem{{Code: finding.ConfigOutOfRange, Key: "resource-threshold-config", Path: "nodeStrategies[0].memoryEvictLowerPercent",
				Line: 3, Column: 83,
				Message: "memoryEvictLowerPercent (90) must be less than memoryEvictThresholdPercent (80)"}},
		},
		{
			name: "what is wrong by itself and what is wrong together are told at once, and nothing is compared with what is wrong",
			data: map[string]string{"resource-threshold-config": `{
  "clusterStrategy": {"cpuSuppressThresholdPercent": 101, "memoryEvictThresholdPercent": "95", "memoryEvictLowerPercent": 90},
  "nodeStrategies": [
    {"name": "x", "nodeSelector": {"matchExpressions": [{"key": "a", "operator": "Near"}]}, "cpuEvictThresholdPercent": 70},
    7,
    {"name": "y", "nodeSelector": {}, "cpuEvictThresholdPercent": 70, "cpuEvictLowerPercent": 80}
  ]
}`},
			want: []Problem{
				{Code: finding.ConfigOutOfRange, Key: "resource-threshold-config", Path: "clusterStrategy.cpuSuppressThresholdPercent",
					Line: 2, Column: 54, Message: "must be at least 0 and at most 100, is 101"},
				{Code: finding.ConfigMalformed, Key: "resource-threshold-config", Path: "clusterStrategy.memoryEvictThresholdPercent",
					Line: 2, Column: 90, Message: `must be a whole number, is "95"`},
				{Code: finding.ConfigMalformed, Key: "resource-threshold-config", Path: "nodeStrategies[0].nodeSelector",
					Line: 4, Column: 35, Message: `"Near" is not a valid label selector operator`},
				{Code: finding.ConfigMalformed, Key: "resource-threshold-config", Path: "nodeStrategies[1]",
					Line: 5, Column: 5, Message: "must be an object, is 7"},
				{Code: finding.ConfigOutOfRange, Key: "resource-threshold-config", Path: "nodeStrategies[2].cpuEvictThresholdPercent",
					Line: 6, Column: 67, Message: "cpuEvictLowerPercent (80) must be less than cpuEvictThresholdPercent (70)"},
			},
		},
		{
			name: "classes cannot be promised more than the whole network",
			data: map[string]string{"resource-qos-config": `{"clusterStrategy": {
  "lsClass": {"networkQOS": {"enable": true, "ingressRequest": 60, "egressRequest": "10M"}},
  "beClass": {"networkQOS": {"enable": true, "ingressRequest": 50}}}}`},
			want: []Problem{{Code: finding.ConfigOutOfRange, Key: "resource-qos-config", Path: "clusterStrategy", Line: 1, Column: 21,
				Message: "the classes' networkQOS.ingressRequest add up to 110 percent, which is more than 100"}},
		},
		{
			name: "a selector that cannot be is malformed",
			data: map[string]string{"cpu-burst-config": `{"nodeStrategies": [{"nodeSelector": {"matchExpressions": [{"key": "a", "operator": "Is"}]}}]}`},
			want: []Problem{{Code: finding.ConfigMalformed, Key: "cpu-burst-config", Path: "nodeStrategies[0].nodeSelector", Line: 1, Column: 38,
				Message: `"Is" is not a valid label selector operator`}},
		},
		{
			name: "keys that the upstream checker leaves out are checked too",
			data: map[string]string{
				"host-application-config":  `{"applications": [{"name": "yarn", "priority": "high"}]}`,
				"cpu-normalization-config": `{"ratioModel": {"Xeon": {"baseRatio": 9}}}`,
			},
			want: []Problem{
				{Code: finding.ConfigOutOfRange, Key: "host-application-config", Path: "applications[0].priority", Line: 1, Column: 48,
					Message: `must be one of koord-prod, koord-mid, koord-batch, koord-free, is "high"`},
				{Code: finding.ConfigOutOfRange, Key: "cpu-normalization-config", Path: "ratioModel.Xeon.baseRatio", Line: 1, Column: 39,
					Message: "must be at least 1 and at most 5, is 9"},
			},
		},
		{
			name: "a document that is not an object is malformed",
			data: map[string]string{"colocation-config": `[]`, "system-config": `{"clusterStrategy": 3, "nodeStrategies": {}}`},
			want: []Problem{
				{Code: finding.ConfigMalformed, Key: "colocation-config", Line: 1, Column: 1, Message: "must be an object, is an array"},
				{Code: finding.ConfigMalformed, Key: "system-config", Path: "clusterStrategy", Line: 1, Column: 21, Message: "must be an object, is 3"},
				{Code: finding.ConfigMalformed, Key: "system-config", Path: "nodeStrategies", Line: 1, Column: 42, Message: "must be an array, is an object"},
			},
		},
		{
			name: "a quantity with an absurd exponent is refused instead of computed",
			data: map[string]string{"system-config": `{"clusterStrategy": {"totalNetworkBandwidth": "1e99999999"}}`},
			want: []Problem{{Code: finding.ConfigMalformed, Key: "system-config", Path: "clusterStrategy.totalNetworkBandwidth", Line: 1, Column: 47}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, got := Parse(test.data)
			ignore := cmp.Options{cmpopts.EquateEmpty()}
			if strings.Contains(test.name, "absurd") {
				ignore = append(ignore, cmpopts.IgnoreFields(Problem{}, "Message"))
			}
			if diff := cmp.Diff(test.want, got, ignore...); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUpstreamExampleParses holds the validation against a configuration as Koordinator's own documents show it.
func TestUpstreamExampleParses(t *testing.T) {
	data := map[string]string{
		"colocation-config": `{"enable": true, "metricAggregateDurationSeconds": 300, "metricReportIntervalSeconds": 60,
			"metricAggregatePolicy": {"durations": ["5m", "10m", "15m"]}, "metricMemoryCollectPolicy": "usageWithoutPageCache",
			"cpuReclaimThresholdPercent": 60, "memoryReclaimThresholdPercent": 65, "memoryCalculatePolicy": "usage",
			"degradeTimeMinutes": 15, "updateTimeThresholdSeconds": 300, "resourceDiffThreshold": 0.1,
			"extensions": {"x": {"y": 1}},
			"nodeConfigs": [{"name": "alios", "nodeSelector": {"matchLabels": {"kernel": "alios"}}, "updateTimeThresholdSeconds": 360}]}`,
		"resource-qos-config": `{"clusterStrategy": {"lsrClass": {"cpuQOS": {"groupIdentity": 2}},
			"beClass": {"resctrlQOS": {"enable": true, "catRangeEndPercent": 20}, "blkioQOS": {"enable": true, "blocks": [
			{"name": "ackdistro-pool", "type": "volumegroup", "ioCfg": {"ioWeightPercent": 20}}]}}}}`,
		"cpu-burst-config": `{"clusterStrategy": {"policy": "auto", "cfsQuotaBurstPercent": 200}}`,
		"system-config":    `{"clusterStrategy": {"minFreeKbytesFactor": 100, "watermarkScaleFactor": 150}}`,
		"resource-threshold-config": `{"clusterStrategy": {"enable": true, "cpuSuppressThresholdPercent": 60},
			"nodeStrategies": [{"name": "x", "nodeSelector": {"matchLabels": {"a": "b"}}, "cpuEvictBEUsageThresholdPercent": 80}]}`,
	}
	config, problems := Parse(data)
	if len(problems) > 0 {
		t.Fatalf("problems: %v", problems)
	}
	if diff := cmp.Diff(data, config.Data()); diff != "" {
		t.Errorf("Data (-want +got):\n%s", diff)
	}
}

func TestKeepLastGoodTakesEachKeyByItself(t *testing.T) {
	last, _ := Parse(map[string]string{
		"colocation-config": `{"enable": true, "cpuReclaimThresholdPercent": 70}`,
		"cpu-burst-config":  `{"clusterStrategy": {"policy": "auto"}}`,
	})
	edited, problems := Parse(map[string]string{
		"colocation-config": `{"enable": true, "cpuReclaimThresholdPercent": "80"}`,
		"cpu-burst-config":  `{"clusterStrategy": {"policy": "none"}}`,
	})
	if len(problems) != 1 {
		t.Fatalf("got %d problems, want 1: %v", len(problems), problems)
	}
	got := KeepLastGood(last, edited)
	want := map[string]string{
		"colocation-config": `{"enable": true, "cpuReclaimThresholdPercent": 70}`,
		"cpu-burst-config":  `{"clusterStrategy": {"policy": "none"}}`,
	}
	if diff := cmp.Diff(want, got.Data()); diff != "" {
		t.Errorf("Data (-want +got):\n%s", diff)
	}
	merged := got.Colocation(node("n", nil, nil))
	if *merged.Strategy.CPUReclaimThresholdPercent != 70 {
		t.Errorf("cpuReclaimThresholdPercent = %d, want the last valid 70", *merged.Strategy.CPUReclaimThresholdPercent)
	}
	if len(merged.Problems) != 1 || merged.Problems[0].Code != finding.ConfigMalformed {
		t.Errorf("problems %v, want the malformed edit still reported", merged.Problems)
	}
}

func TestDefaultsOfEveryKeyCanBeEncoded(t *testing.T) {
	for _, s := range sections() {
		if _, err := toObject(s.fallback); err != nil {
			t.Errorf("%s: %v", s.key, err)
		}
	}
	want := configuration.Keys()
	var got []string
	for _, s := range sections() {
		got = append(got, s.key)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("colocation-config", `{"enable":true,"nodeConfigs":[{"name":"a","nodeSelector":{"matchLabels":{"a":"b"}},"degradeTimeMinutes":3}]}`)
	f.Add("resource-qos-config", `{"clusterStrategy":{"beClass":{"networkQOS":{"ingressRequest":"1e999"}}}}`)
	f.Add("system-config", `{"clusterStrategy":{"totalNetworkBandwidth":"100M"}}`)
	f.Add("colocation-config", `{"a":[[[[[[{}]]]]]],"nodeConfigs":null}`)
	f.Add("host-application-config", `{"applications":[{"cgroupPath":{"base":"Kubepods"}}]}`)
	f.Fuzz(func(t *testing.T, key, text string) {
		config, problems := Parse(map[string]string{key: text})
		for _, problem := range problems {
			if !problem.Rejects() || problem.Message == "" {
				t.Errorf("problem %+v neither rejects nor says why", problem)
			}
		}
		if len(problems) > 0 && len(config.Data()) > 0 {
			t.Errorf("a key with problems took effect: %v", problems)
		}
		merged := config.Colocation(node("n", map[string]string{"a": "b"}, nil))
		if merged.Strategy.Enable == nil || merged.Strategy.DegradeTimeMinutes == nil || *merged.Strategy.DegradeTimeMinutes < 1 {
			t.Errorf("merged strategy lost a default: %+v", merged.Strategy)
		}
		config.NodeSLO(node("n", map[string]string{"a": "b"}, nil))
	})
}
