package loadaware

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func TestDecodeArgsFillsInDefaults(t *testing.T) {
	got, err := DecodeArgs([]byte(`{"kind":"LoadAwareSchedulingArgs","apiVersion":"kubescheduler.config.k8s.io/v1","estimatedScalingFactors":{"cpu":80}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := DefaultArgs()
	want.Kind, want.APIVersion = Kind, APIVersion
	want.EstimatedScalingFactors["cpu"] = 80
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[corev1.ResourceName]int64{"cpu": 80, "memory": 70}, got.EstimatedScalingFactors); diff != "" {
		t.Errorf("factors are merged, not replaced (-want +got):\n%s", diff)
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
		{"two objects", `{}{}`, []string{"unexpected data"}},
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
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := DecodeArgs([]byte(test.raw))
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
