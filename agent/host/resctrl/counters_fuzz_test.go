package resctrl_test

import (
	"math"
	"testing"
	"time"

	"koordinator.sh/koord/agent/host/resctrl"
	"koordinator.sh/koord/agent/host/resctrl/resctrlfs"
)

// FuzzCounters: a sum is no smaller than what one cache counts, and bandwidth is a number that is not negative.
func FuzzCounters(f *testing.F) {
	f.Add("16384\n", "32768\n")
	f.Add("Unavailable\n", "Error\n")
	f.Add("Unassigned\n", "4096\n")
	f.Add("18446744073709551615", "1")
	f.Add("0", "99999999999999999999")
	f.Add("-1", "")
	f.Fuzz(func(t *testing.T, first, second string) {
		read := func(seconds int64, shown ...string) resctrl.Counters {
			tree := resctrlfs.New(resctrlfs.Intel)
			if err := tree.Make("g"); err != nil {
				t.Fatal(err)
			}
			for cache, content := range shown {
				for _, name := range []string{"llc_occupancy", "mbm_total_bytes", "mbm_local_bytes"} {
					tree.Count("g", name, cache, content)
				}
			}
			counters, counted := resctrl.ReadCounters(tree, "g", time.Unix(seconds, 0))
			if counted != (counters.Values > 0) || counters.Values > 3*2 || counters.Total != counters.Local || counters.Total != counters.Occupancy {
				t.Fatalf("%q reads %+v, %t", shown, counters, counted)
			}
			return counters
		}
		one, other, both := read(1, first, "0"), read(2, "0", second), read(3, first, second)
		if both.Total < max(one.Total, other.Total) {
			t.Errorf("%d and %d bytes are %d together", one.Total, other.Total, both.Total)
		}
		for _, pair := range [][2]resctrl.Counters{{one, other}, {one, both}, {other, both}, {both, one}} {
			total, local, ok := resctrl.Bandwidth(pair[0], pair[1])
			if !(total >= 0) || !(local >= 0) || math.IsInf(total, 0) || math.IsInf(local, 0) || !ok && (total != 0 || local != 0) {
				t.Errorf("%v and %v bytes per second, %t", total, local, ok)
			}
		}
	})
}
