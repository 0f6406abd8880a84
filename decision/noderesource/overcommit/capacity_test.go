package overcommit

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
)

// TestOffersBeyondTheCapacityAreSaid has a node of 100 cpus and 120 GB, of which 40 cpus and 45 GB are used.
func TestOffersBeyondTheCapacityAreSaid(t *testing.T) {
	tests := []struct {
		name string
		in   NodeInput
		want map[corev1.ResourceName]int64
	}{
		{name: "an ordinary offer is within the node", in: n1(), want: map[corev1.ResourceName]int64{}},
		{
			name: "a reclaim threshold of 200% adds the node to itself: 100+100-7-33 and 120+120-12-33", in: n1(with(reclaim(200, 200))),
			want: map[corev1.ResourceName]int64{extension.BatchCPU: 60_000, extension.BatchMemory: 75_000_000_000},
		},
		{
			name: "the whole node is within the node", in: n1(with(reclaim(200, 200), func(s *configuration.ColocationStrategy) {
				s.BatchCPUThresholdPercent, s.BatchMemoryThresholdPercent = new(int64(100)), new(int64(100))
			})),
			want: map[corev1.ResourceName]int64{},
		},
		{
			name: "fast cpus may make more of it: 100*1.5", in: n1(annotated(extension.AnnotationCPUNormalizationRatio, "1.5"), with(reclaim(200, 65), func(s *configuration.ColocationStrategy) {
				s.BatchCPUThresholdPercent = new(int64(100))
			})),
			want: map[corev1.ResourceName]int64{extension.BatchCPU: 50_000},
		},
		{name: "what is withdrawn is not offered", in: n1(with(reclaim(200, 200)), func(in *NodeInput) { in.Metric = nil }), want: map[corev1.ResourceName]int64{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			result := Calculate(test.in, nil)
			got := map[corev1.ResourceName]int64{}
			for _, name := range result.OverCapacity() {
				value, _ := result.Of(name)
				got[name] = value.OverCapacity
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("offered beyond the capacity (-want +got):\n%s", diff)
			}
			traced := map[corev1.ResourceName]int64{}
			for _, waterfall := range explain(test.in, DefaultMaxParts) {
				for _, term := range waterfall.Terms {
					if term.Name == "overCapacity" && term.Operator == diagnosticsv1alpha1.Info {
						traced[corev1.ResourceName(waterfall.Resource)] = term.Value
					}
				}
			}
			if diff := cmp.Diff(test.want, traced); diff != "" {
				t.Errorf("traced beyond the capacity (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheTraceSaysWhatTheNodeHas(t *testing.T) {
	terms := explain(n1(with(reclaim(200, 200))), DefaultMaxParts)[0].Terms
	want := term{
		Name: "overCapacity", Operator: "info", Value: 60_000, Unit: "milliCPU", Note: "above the node's capacity of 100 cores",
		Source: &diagnosticsv1alpha1.SourceRef{Kind: "Node", Name: "test-node", Field: "status.capacity.cpu"},
	}
	if diff := cmp.Diff(want, terms[len(terms)-2]); diff != "" {
		t.Errorf("term before the result (-want +got):\n%s", diff)
	}
}
