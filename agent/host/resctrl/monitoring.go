package resctrl

import (
	"math"
	"path"
	"strconv"
	"strings"
	"time"

	"koordinator.sh/koord/agent/host/files"
)

// Counters are what the processor counts of a group, over all caches.
type Counters struct {
	At time.Time
	// Occupancy is the bytes of the last-level cache that the group has filled.
	Occupancy uint64
	// Total and Local are the bytes that went between the cache and memory, all of them and those of the cache's own node, since
	// the group was made.
	Total, Local uint64
	// Values is how many of the files had a value.
	Values int
}

// ReadCounters reads the counters of a group, "" for the root group; false where the processor counts nothing. A counter that
// has no value at the moment, as the kernel says by words, counts as nothing.
func ReadCounters(tree files.FS, group string, at time.Time) (Counters, bool) {
	out := Counters{At: at}
	names, err := tree.Directories(path.Join(group, "mon_data"))
	if err != nil {
		return out, false
	}
	for _, name := range names {
		if !strings.HasPrefix(name, "mon_L3_") {
			continue
		}
		for _, counter := range []struct {
			file string
			into *uint64
		}{{"llc_occupancy", &out.Occupancy}, {"mbm_total_bytes", &out.Total}, {"mbm_local_bytes", &out.Local}} {
			content, err := tree.Read(path.Join(group, "mon_data", name, counter.file), nil)
			if err != nil {
				continue
			}
			value, err := strconv.ParseUint(strings.TrimSpace(string(content)), 10, 64)
			if err != nil {
				continue // Unavailable, or Error
			}
			out.Values++
			*counter.into += min(value, math.MaxUint64-*counter.into)
		}
	}
	return out, out.Values > 0
}

// Bandwidth is the bytes per second between two readings, in total and local; false where they cannot be compared, because a counter
// was reset or had a value in one of them only.
func Bandwidth(before, after Counters) (total, local float64, ok bool) {
	seconds := after.At.Sub(before.At).Seconds()
	if before.At.IsZero() || seconds <= 0 || after.Values != before.Values || after.Total < before.Total || after.Local < before.Local {
		return 0, 0, false
	}
	return float64(after.Total-before.Total) / seconds, float64(after.Local-before.Local) / seconds, true
}
