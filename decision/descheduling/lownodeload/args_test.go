package lownodeload

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestDefaults(t *testing.T) {
	args := &Args{
		PoolSettings: PoolSettings{HighThresholds: Thresholds{"nvidia.com/gpu": 50}, ResourceWeights: map[corev1.ResourceName]int64{corev1.ResourceCPU: 2}},
		NodePools:    []NodePool{{PoolSettings: PoolSettings{AnomalyCondition: &AnomalyCondition{ConsecutiveAbnormalities: 1}}}, {Name: "gold"}},
	}
	SetDefaults(args)
	condition := AnomalyCondition{Timeout: &metav1.Duration{Duration: time.Minute}, ConsecutiveAbnormalities: 5, ConsecutiveNormalities: 3}
	soon := condition
	soon.ConsecutiveAbnormalities = 1
	weights := map[corev1.ResourceName]int64{corev1.ResourceCPU: 1, corev1.ResourceMemory: 1}
	want := &Args{
		Paused: new(false), DryRun: new(false), NodeFit: new(true), NumberOfNodes: new(int32(0)), NodeMetricExpirationSeconds: new(int64(180)),
		DetectorCacheTimeout: &metav1.Duration{Duration: 5 * time.Minute},
		PoolSettings: PoolSettings{
			UseDeviationThresholds: new(false), HighThresholds: Thresholds{"nvidia.com/gpu": 50}, AnomalyCondition: &condition,
			ResourceWeights: map[corev1.ResourceName]int64{corev1.ResourceCPU: 2, corev1.ResourceMemory: 1, "nvidia.com/gpu": 1},
		},
		NodePools: []NodePool{
			{Name: "nodePools[0]", PoolSettings: PoolSettings{UseDeviationThresholds: new(false), AnomalyCondition: &soon, ResourceWeights: weights}},
			{Name: "gold", PoolSettings: PoolSettings{UseDeviationThresholds: new(false), AnomalyCondition: &condition, ResourceWeights: weights}},
		},
	}
	if diff := cmp.Diff(want, args); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
	if errs := Validate(args); len(errs) > 0 {
		t.Errorf("the defaults are invalid: %v", errs)
	}
}

func TestEveryInvalidFieldIsReported(t *testing.T) {
	args := &Args{}
	err := json.Unmarshal([]byte(`{
		"apiVersion": "descheduler/v1alpha2", "kind": "LowNodeLoadArgs",
		"numberOfNodes": -1, "nodeMetricExpirationSeconds": 0, "detectorCacheTimeout": "-1m",
		"evictableNamespaces": {"include": ["a"], "exclude": ["b"]},
		"nodeSelector": {"matchExpressions": [{"key": "a", "operator": "Near"}]},
		"podSelectors": [{"name": "x", "selector": {"matchLabels": {"not a key": ""}}}],
		"lowThresholds": {"cpu": 80, "memory": -1}, "highThresholds": {"cpu": 70, "memory": 101},
		"resourceWeights": {"cpu": -1}, "anomalyCondition": {"timeout": "0s", "consecutiveAbnormalities": 1001, "consecutiveNormalities": 1001},
		"nodePools": [{"name": "a", "lowThresholds": {"cpu": 30}, "highThresholds": {"cpu": 20}}, {"name": "a"}]
	}`), args)
	if err != nil {
		t.Fatal(err)
	}
	SetDefaults(args)
	var got []string
	for _, err := range Validate(args) {
		got = append(got, err.Field)
	}
	want := []string{
		"numberOfNodes", "nodeMetricExpirationSeconds", "detectorCacheTimeout", "evictableNamespaces",
		"nodeSelector.matchExpressions[0].operator", "podSelectors[0].selector.matchLabels", "lowThresholds[memory]", "highThresholds[memory]",
		"lowThresholds[cpu]", "resourceWeights[cpu]",
		"anomalyCondition.timeout", "anomalyCondition.consecutiveAbnormalities", "anomalyCondition.consecutiveNormalities",
		"nodePools[0].lowThresholds[cpu]", "nodePools[0].anomalyCondition.timeout", "nodePools[0].anomalyCondition.consecutiveAbnormalities",
		"nodePools[0].anomalyCondition.consecutiveNormalities",
		"nodePools[1].name", "nodePools[1].anomalyCondition.timeout", "nodePools[1].anomalyCondition.consecutiveAbnormalities",
		"nodePools[1].anomalyCondition.consecutiveNormalities",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}

// TestUpstreamsExampleIsRead has every field that Koordinator documents.
func TestUpstreamsExampleIsRead(t *testing.T) {
	args := &Args{}
	err := json.Unmarshal([]byte(`{
		"apiVersion": "descheduler/v1alpha2", "kind": "LowNodeLoadArgs", "paused": false, "dryRun": true, "numberOfNodes": 2,
		"evictableNamespaces": {"exclude": ["kube-system", "koordinator-system"]}, "nodeFit": false, "useDeviationThresholds": false,
		"lowThresholds": {"cpu": 45, "memory": 55}, "highThresholds": {"cpu": 75, "memory": 80},
		"prodLowThresholds": {"cpu": 25}, "prodHighThresholds": {"cpu": 50}, "resourceWeights": {"cpu": 1, "memory": 1},
		"anomalyCondition": {"timeout": "2m", "consecutiveAbnormalities": 7, "consecutiveNormalities": 4}, "detectorCacheTimeout": "10m",
		"nodePools": [{"name": "gold", "nodeSelector": {"matchLabels": {"pool": "gold"}}, "useDeviationThresholds": true, "lowThresholds": {"cpu": 10}, "highThresholds": {"cpu": 20}}]
	}`), args)
	if err != nil {
		t.Fatal(err)
	}
	SetDefaults(args)
	if errs := Validate(args); len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	if args.LowThresholds[corev1.ResourceMemory] != 55 || args.ProdHighThresholds[corev1.ResourceCPU] != 50 || args.AnomalyCondition.ConsecutiveAbnormalities != 7 ||
		!*args.NodePools[0].UseDeviationThresholds || args.DetectorCacheTimeout.Duration != 10*time.Minute || !*args.DryRun || *args.NodeFit {
		t.Errorf("read %+v", args)
	}
	compiled, err := Compile(args)
	if err != nil || len(compiled.pools) != 2 || compiled.pools[0].name != "gold" || compiled.pools[1].name != DefaultPool {
		t.Errorf("pools %+v, %v, want gold and the default one", compiled, err)
	}
}
