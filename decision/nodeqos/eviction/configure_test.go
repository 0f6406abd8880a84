package eviction

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// TestConfigurationIsWhatDemandsGoBy compares the answer with the demands of a node: a feature that is reported
// as configured compares something, and any other compares nothing.
func TestConfigurationIsWhatDemandsGoBy(t *testing.T) {
	tests := map[string]struct {
		unset func(*slov1alpha1.ResourceThresholdStrategy)
		want  map[Feature]Configuration
	}{
		"everything is set": {func(*slov1alpha1.ResourceThresholdStrategy) {}, map[Feature]Configuration{
			BECPUEvict:             {Reason: "cpuEvictBESatisfactionLowerPercent is 20"},
			CPUAllocatableEvict:    {Reason: "cpuAllocatableEvictThresholdPercent is 100, allocatableEvictPriorityThreshold is 5999"},
			CPUEvict:               {Reason: "cpuEvictThresholdPercent is 100, evictEnabledPriorityThreshold is 5999"},
			BEMemoryEvict:          {Reason: "memoryEvictThresholdPercent is 50"},
			MemoryAllocatableEvict: {Reason: "memoryAllocatableEvictThresholdPercent is 100, allocatableEvictPriorityThreshold is 5999"},
			MemoryEvict:            {Reason: "memoryEvictThresholdPercent is 50, evictEnabledPriorityThreshold is 5999"},
		}},
		"no priority is evicted for use": {func(s *slov1alpha1.ResourceThresholdStrategy) { s.EvictEnabledPriorityThreshold = nil }, map[Feature]Configuration{
			CPUEvict:    {Unset, "evictEnabledPriorityThreshold is not set"},
			MemoryEvict: {Unset, "evictEnabledPriorityThreshold is not set"},
		}},
		"no priority is evicted for requests": {func(s *slov1alpha1.ResourceThresholdStrategy) { s.AllocatableEvictPriorityThreshold = nil }, map[Feature]Configuration{
			CPUAllocatableEvict:    {Unset, "allocatableEvictPriorityThreshold is not set"},
			MemoryAllocatableEvict: {Unset, "allocatableEvictPriorityThreshold is not set"},
		}},
		"the upper percentage of satisfaction is missing": {func(s *slov1alpha1.ResourceThresholdStrategy) { s.CPUEvictBESatisfactionUpperPercent = nil }, map[Feature]Configuration{
			BECPUEvict: {Unset, "cpuEvictBESatisfactionUpperPercent is not set"},
		}},
		"the lower percentage of requests is missing": {func(s *slov1alpha1.ResourceThresholdStrategy) { s.CPUAllocatableEvictLowerPercent = nil }, map[Feature]Configuration{
			CPUAllocatableEvict: {Unset, "cpuAllocatableEvictLowerPercent is not set"},
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			strategy := completeStrategy()
			strategy.Enable = new(true)
			tc.unset(&strategy)
			for feature, want := range tc.want {
				got := ConfigurationOf(feature, &strategy)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", feature, diff)
				}
				in := input(only(feature), node(1_000, giga), strategy, batch("exec", 5500, 1000, 1000, giga))
				for _, demand := range demandsOf(&in, feature, nil) {
					if unset := demand.State == Unset || demand.State == Off; unset != (got.State != "") {
						t.Errorf("%s is configured as %q, and its demand is %s", feature, got.State, demand.State)
					}
				}
			}
		})
	}
	for _, off := range []*slov1alpha1.ResourceThresholdStrategy{nil, {MemoryEvictThresholdPercent: new(int64(50))}} {
		if got := ConfigurationOf(BEMemoryEvict, off); got.State != Off {
			t.Errorf("a strategy that is off: %+v", got)
		}
	}
}
