package resourcescore

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"
)

func TestFitPlus(t *testing.T) {
	least, most := WeightedStrategy{LeastAllocated, 1}, WeightedStrategy{MostAllocated, 1}
	tests := map[string]struct {
		demands []Demand
		want    int64
	}{
		"nothing requested scores nothing":           {nil, 0},
		"an empty node is best for LeastAllocated":   {[]Demand{{least, 10, 0, 100}}, 90},
		"a full node is best for MostAllocated":      {[]Demand{{most, 10, 80, 100}}, 90},
		"what does not fit scores nothing":           {[]Demand{{most, 30, 80, 100}}, 0},
		"what the node does not have scores nothing": {[]Demand{{least, 1, 0, 0}}, 0},
		"weights count": {[]Demand{{WeightedStrategy{LeastAllocated, 1}, 0, 0, 100}, {WeightedStrategy{MostAllocated, 3}, 0, 0, 100}}, 25},
		"bytes of a huge machine do not overflow":             {[]Demand{{most, 0, math.MaxInt64, math.MaxInt64}}, 100},
		"GPUs packed and CPUs spread, as mixed clusters want": {[]Demand{{WeightedStrategy{MostAllocated, 2}, 1, 6, 8}, {WeightedStrategy{LeastAllocated, 1}, 4000, 12000, 32000}}, (2*87 + 50) / 3},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := FitPlus(test.demands); got != test.want {
				t.Errorf("score %d, want %d", got, test.want)
			}
		})
	}
}

func TestScoresStayInRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var demands []Demand
		for range rapid.IntRange(0, 4).Draw(t, "resources") {
			demands = append(demands, Demand{
				WeightedStrategy{rapid.SampledFrom([]Strategy{LeastAllocated, MostAllocated}).Draw(t, "type"), rapid.Int64Range(1, 100).Draw(t, "weight")},
				rapid.Int64Range(0, math.MaxInt64/4).Draw(t, "request"), rapid.Int64Range(0, math.MaxInt64/4).Draw(t, "requested"), rapid.Int64Range(0, math.MaxInt64).Draw(t, "allocatable"),
			})
		}
		if got := FitPlus(demands); got < 0 || got > MaxScore {
			t.Errorf("score %d", got)
		}
		unused := rapid.Int64Range(0, 50).Draw(t, "unused")
		if got := Avoid(unused, rapid.Int64Range(0, unused).Draw(t, "scarce")); got < 0 || got > MaxScore {
			t.Errorf("avoidance %d", got)
		}
	})
}

func TestAvoid(t *testing.T) {
	tests := map[string]struct{ unused, scarce, want int64 }{
		"all the node has is used":      {0, 0, 100},
		"nothing scarce is left unused": {3, 0, 100},
		"half of the unused is scarce":  {2, 1, 50},
		"a third is not scarce":         {3, 2, 33},
		"only scarce things are unused": {1, 1, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Avoid(test.unused, test.scarce); got != test.want {
				t.Errorf("score %d, want %d", got, test.want)
			}
		})
	}
}

func TestArgumentsOutOfRange(t *testing.T) {
	fit := ValidateFitPlus(&FitPlusArgs{Resources: map[corev1.ResourceName]WeightedStrategy{
		"cpu": {LeastAllocated, 1}, "a": {"Random", 1}, "b": {MostAllocated, 0}, "": {MostAllocated, 101},
	}})
	scarce := ValidateScarce(&ScarceArgs{Resources: []corev1.ResourceName{"nvidia.com/gpu", "", "nvidia.com/gpu"}})
	var got []string
	for _, problem := range append(fit, scarce...) {
		got = append(got, problem.Field)
	}
	want := []string{"resources", "resources[].weight", "resources[a].type", "resources[b].weight", "resources[1]", "resources[2]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}
