package resctrl_test

import (
	"testing"
	"time"

	"koordinator.sh/koord/agent/host/resctrl"
	"koordinator.sh/koord/agent/host/resctrl/resctrlfs"
)

// TestBandwidthIsThatOfTheSameCounters: one that has no value for a while counts neither as nothing nor as all since the beginning.
func TestBandwidthIsThatOfTheSameCounters(t *testing.T) {
	tree := resctrlfs.New(resctrlfs.Intel)
	if err := tree.Make("g"); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var before resctrl.Counters
	for i, step := range []struct {
		name     string
		shown    [2]string
		want     float64
		measured bool
	}{
		{"the first reading", [2]string{"1000", "5000"}, 0, false},
		{"both caches count", [2]string{"1500", "5100"}, 600, true},
		{"one has no value", [2]string{"2000", "Unavailable"}, 0, false},
		{"it has one again", [2]string{"2500", "5300"}, 0, false},
		{"both count again", [2]string{"2600", "5400"}, 200, true},
		{"a counter begins anew", [2]string{"10", "5500"}, 0, false},
	} {
		for cache, shown := range step.shown {
			tree.Count("g", "mbm_total_bytes", cache, shown)
		}
		after, counted := resctrl.ReadCounters(tree, "g", at.Add(time.Duration(i)*time.Second))
		if !counted {
			t.Errorf("%s: nothing is counted", step.name)
		}
		if total, _, measured := resctrl.Bandwidth(before, after); total != step.want || measured != step.measured {
			t.Errorf("%s: %v bytes per second, %v; want %v, %v", step.name, total, measured, step.want, step.measured)
		}
		before = after
	}
}
