package loadaware

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"koordinator.sh/koord/decision/scheduling/pluginargs"
)

func TestDecodeArgsFillsInDefaults(t *testing.T) {
	got, err := DecodeArgs(&runtime.Unknown{Raw: []byte(`{"kind":"LoadAwareSchedulingArgs","apiVersion":"kubescheduler.config.k8s.io/v1","estimatedScalingFactors":{"cpu":80}}`)})
	if err != nil {
		t.Fatal(err)
	}
	want := DefaultArgs()
	want.Kind, want.APIVersion = Kind, pluginargs.APIVersion
	want.EstimatedScalingFactors["cpu"] = 80
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[corev1.ResourceName]int64{"cpu": 80, "memory": 70}, got.EstimatedScalingFactors); diff != "" {
		t.Errorf("factors are merged, not replaced (-want +got):\n%s", diff)
	}
}

// TestDefaultsAreThoseOfKoordinator spells them out, so that a change of one is noticed.
func TestDefaultsAreThoseOfKoordinator(t *testing.T) {
	want := &Args{
		FilterExpiredNodeMetrics: new(true), NodeMetricExpirationSeconds: new(int64(180)), EnableScheduleWhenNodeMetricsExpired: new(false),
		ResourceWeights:         map[corev1.ResourceName]int64{"cpu": 1, "memory": 1},
		UsageThresholds:         map[corev1.ResourceName]int64{"cpu": 65, "memory": 95},
		EstimatedScalingFactors: map[corev1.ResourceName]int64{"cpu": 85, "memory": 70},
		Estimator:               "defaultEstimator",
	}
	for _, raw := range []string{"", "{}", "null", `{"usageThresholds":{},"resourceWeights":{},"estimatedScalingFactors":{}}`} {
		got, err := DecodeArgs(&runtime.Unknown{Raw: []byte(raw)})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("arguments of %q (-want +got):\n%s", raw, diff)
		}
	}
}

func TestDecodeArgsReadsEveryField(t *testing.T) {
	raw := `{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"LoadAwareSchedulingArgs","filterExpiredNodeMetrics":false,
		"nodeMetricExpirationSeconds":300,"enableScheduleWhenNodeMetricsExpired":true,"dominantResourceWeight":2,"resourceWeights":{"cpu":3},
		"usageThresholds":{"cpu":70},"prodUsageThresholds":{"cpu":55},"prodUsageIncludeSys":true,"scoreAccordingProdUsage":true,
		"estimator":"defaultEstimator","estimatedScalingFactors":{"cpu":80,"memory":60},"estimatedSecondsAfterPodScheduled":0,
		"estimatedSecondsAfterInitialized":180,"allowCustomizeEstimation":true,"supportedResources":["nvidia.com/gpu"],
		"aggregated":{"usageThresholds":{"cpu":60},"usageAggregationType":"p95","usageAggregatedDuration":"10m","scoreAggregationType":"avg","scoreAggregatedDuration":"5m"}}`
	got, err := DecodeArgs(&runtime.Unknown{Raw: []byte(raw)})
	if err != nil {
		t.Fatal(err)
	}
	want := &Args{
		TypeMeta:                 metav1.TypeMeta{APIVersion: pluginargs.APIVersion, Kind: Kind},
		FilterExpiredNodeMetrics: new(false), NodeMetricExpirationSeconds: new(int64(300)), EnableScheduleWhenNodeMetricsExpired: new(true),
		DominantResourceWeight: 2, ResourceWeights: map[corev1.ResourceName]int64{"cpu": 3}, UsageThresholds: map[corev1.ResourceName]int64{"cpu": 70},
		ProdUsageThresholds: map[corev1.ResourceName]int64{"cpu": 55}, ProdUsageIncludeSys: true, ScoreAccordingProdUsage: true,
		Estimator: "defaultEstimator", EstimatedScalingFactors: map[corev1.ResourceName]int64{"cpu": 80, "memory": 60},
		EstimatedSecondsAfterPodScheduled: new(int64(0)), EstimatedSecondsAfterInitialized: new(int64(180)),
		AllowCustomizeEstimation: true, SupportedResources: []corev1.ResourceName{"nvidia.com/gpu"},
		Aggregated: &AggregatedArgs{
			UsageThresholds: map[corev1.ResourceName]int64{"cpu": 60}, UsageAggregationType: "p95", UsageAggregatedDuration: metav1.Duration{Duration: 10 * time.Minute},
			ScoreAggregationType: "avg", ScoreAggregatedDuration: metav1.Duration{Duration: 5 * time.Minute},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
}

func TestDefaultWeightsGiveWayToTheDominantResource(t *testing.T) {
	args := &Args{DominantResourceWeight: 1}
	SetDefaults(args)
	if args.ResourceWeights != nil {
		t.Errorf("weights %v, want none", args.ResourceWeights)
	}
}

func TestDecodeArgsNamesEveryWrongField(t *testing.T) {
	tests := []struct {
		name string
		raw  string
		want []string
	}{
		{"a misspelt field", `{"usageTresholds":{"cpu":60}}`, []string{"usageTresholds"}},
		{"another kind", `{"kind":"CoschedulingArgs"}`, []string{"CoschedulingArgs"}},
		{"another version", `{"apiVersion":"kubescheduler.config.k8s.io/v1beta3"}`, []string{"v1beta3"}},
		{"a field in another case", `{"UsageThresholds":{"cpu":60}}`, []string{`unknown field "UsageThresholds"`}},
		{"a misspelt field further in", `{"aggregated":{"usageAgregationType":"p95"}}`, []string{`"aggregated.usageAgregationType"`}},
		{"a share of a percent", `{"usageThresholds":{"cpu":60.5}}`, []string{Kind}},
		{"a number in quotes", `{"usageThresholds":{"cpu":"60"}}`, []string{Kind}},
		{"two objects", `{}{}`, []string{"after top-level value"}},
		{"not an object", `[]`, []string{Kind}},
		{
			"values out of range", `{"usageThresholds":{"cpu":650},"nodeMetricExpirationSeconds":0,"estimator":"guess","resourceWeights":{"gpu":0},` +
				`"aggregated":{"usageThresholds":{"cpu":-1},"scoreAggregationType":"p42","usageAggregatedDuration":"-5m"}}`,
			[]string{
				"usageThresholds[cpu]: Invalid value: 650", "nodeMetricExpirationSeconds: Invalid value: 0", "estimator: Unsupported value",
				"resourceWeights[gpu]: Invalid value: 0", "estimatedScalingFactors[gpu]: Required value", "aggregated.usageThresholds[cpu]: Invalid value: -1",
				"aggregated.scoreAggregationType: Unsupported value", "aggregated.usageAggregationType: Required value", "aggregated.usageAggregatedDuration",
			},
		},
		{
			"more values out of range", `{"nodeMetricExpirationSeconds":9223372037,"estimatedSecondsAfterPodScheduled":-1,"estimatedSecondsAfterInitialized":9223372037,` +
				`"dominantResourceWeight":101,"resourceWeights":{"cpu":101,"":1},"prodUsageThresholds":{"memory":101},"estimatedScalingFactors":{"cpu":0},` +
				`"supportedResources":["nvidia.com/gpu",""],"aggregated":{"usageAggregationType":"max","scoreAggregatedDuration":"-1s"}}`,
			[]string{
				"nodeMetricExpirationSeconds: Invalid value: 9223372037", "estimatedSecondsAfterPodScheduled: Invalid value: -1",
				"estimatedSecondsAfterInitialized: Invalid value: 9223372037", "dominantResourceWeight: Invalid value: 101",
				"resourceWeights[cpu]: Invalid value: 101", "empty resource name", "prodUsageThresholds[memory]: Invalid value: 101",
				"estimatedScalingFactors[cpu]: Invalid value: 0", "supportedResources[1]", "aggregated.usageAggregationType: Unsupported value",
				"aggregated.scoreAggregatedDuration",
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := DecodeArgs(&runtime.Unknown{Raw: []byte(test.raw)})
			if err == nil {
				t.Fatal("the arguments were accepted")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not name %q", err, want)
				}
			}
		})
	}
}

func TestNewPolicyLeavesItsArgumentsAlone(t *testing.T) {
	args := &Args{EstimatedScalingFactors: map[corev1.ResourceName]int64{"cpu": 50}}
	NewPolicy(args)
	if diff := cmp.Diff(&Args{EstimatedScalingFactors: map[corev1.ResourceName]int64{"cpu": 50}}, args); diff != "" {
		t.Errorf("arguments were changed (-want +got):\n%s", diff)
	}
}
