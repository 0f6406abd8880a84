package cfs

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNormalizedGroup(t *testing.T) {
	tests := []struct {
		name       string
		pod        int64
		containers []int64
		percent    int64
		want       Group
	}{
		{"faster CPUs need less time", 2000, []int64{500, 1500}, 120, Group{166667, []int64{41667, 125000}}},
		{"a pod has no less than its containers", 300, []int64{100, 100, 100}, 130, Group{23079, []int64{7693, 7693, 7693}}},
		{"what has no limit has no quota", 0, []int64{0, 500}, 120, Group{Unlimited, []int64{Unlimited, 41667}}},
		{"the kernel takes no less than a thousand", 10, []int64{10}, 200, Group{1000, []int64{1000}}},
		{"the reference model", 1000, []int64{1000}, 100, Group{100000, []int64{100000}}},
		{"limits beyond all CPUs", math.MaxInt64, []int64{math.MaxInt64, math.MaxInt64}, 100, Group{math.MaxInt64, []int64{math.MaxInt64, math.MaxInt64}}},
		{"no containers", 1000, nil, 200, Group{50000, []int64{}}},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, NormalizedGroup(test.pod, test.containers, test.percent)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}
