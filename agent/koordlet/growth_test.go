package koordlet

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// live returns the size of the heap after a garbage collection, in bytes. What finalizers and pools release is collected by the second
// collection.
func live() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// TestAnAgentDoesNotGrow: once its windows are full, an agent that measures, reports, learns and holds best effort back keeps no more
// after hours than before.
func TestAnAgentDoesNotGrow(t *testing.T) {
	const (
		filled  = 90 * time.Minute // longer than the longest window of a report
		watched = 4 * time.Hour
		most    = 64 << 10 // less than five bytes for each reading
	)
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		defer r.stop()
		r.machine.use("batch", 4)
		r.machine.use("service", 3)
		r.group.Go(func() { r.measurement.run(r.ctx, r.enforcement) })
		r.group.Go(func() { newReporting(r.options, r.clients, r.cluster, r.measurement, r.standing).run(r.ctx) })
		r.after(filled)
		before := live()
		r.after(watched)
		if grown := live() - before; grown > most {
			t.Errorf("the agent holds %d KiB more after %s, of %d KiB; %d KiB are allowed", grown>>10, watched, before>>10, most>>10)
		}
	})
}
