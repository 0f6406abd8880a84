package evictor

import (
	"time"

	"koordinator.sh/koord/decision/nodeqos/eviction"
)

// defaultWindow is cpuEvictTimeWindowSeconds where it is not set.
const defaultWindow = 60 * time.Second

// sample is one reading of what CPU evictions average.
type sample struct {
	at         time.Time
	node       int64
	bestEffort eviction.BestEffortCPU
}

// windows remembers readings for as long as cpuEvictTimeWindowSeconds.
type windows struct{ samples []sample }

func windowOf(reading Reading) time.Duration {
	if reading.Strategy == nil || reading.Strategy.CPUEvictTimeWindowSeconds == nil {
		return defaultWindow
	}
	return max(eviction.WindowOf(reading.Strategy), time.Second)
}

func (w *windows) add(reading Reading, pods []eviction.Pod) {
	used, measured := reading.Used()
	if !measured {
		return
	}
	now := sample{at: reading.Now, node: used.Amount().MilliCPU, bestEffort: eviction.BestEffortOf(pods, reading.BestEffortLimit)}
	if now.bestEffort.Limit < 0 {
		now.bestEffort.Limit = reading.Capacity.MilliCPU
	}
	from := reading.Now.Add(-windowOf(reading))
	kept := w.samples[:0]
	for _, old := range w.samples {
		if old.at.After(from) && old.at.Before(now.at) {
			kept = append(kept, old)
		}
	}
	w.samples = append(kept, now)
}

// satisfaction of best-effort pods over the window; nil before the first reading.
func (w *windows) satisfaction(reading Reading) *eviction.Satisfaction {
	if len(w.samples) == 0 {
		return nil
	}
	out := &eviction.Satisfaction{Current: w.samples[len(w.samples)-1].bestEffort, Samples: len(w.samples), Interval: reading.Period}
	for _, s := range w.samples {
		out.Average.Limit += s.bestEffort.Limit
		out.Average.Request += s.bestEffort.Request
		out.Average.Used += s.bestEffort.Used
		out.Average.ContainerRequest += s.bestEffort.ContainerRequest
		out.Average.ContainerUsed += s.bestEffort.ContainerUsed
	}
	count := int64(len(w.samples))
	out.Average.Limit /= count
	out.Average.Request /= count
	out.Average.Used /= count
	out.Average.ContainerRequest /= count
	out.Average.ContainerUsed /= count
	return out
}

// nodeCPU is what the node used on average over the window, in milli-cores.
func (w *windows) nodeCPU(latest int64) int64 {
	if len(w.samples) == 0 {
		return latest
	}
	var sum int64
	for _, s := range w.samples {
		sum += s.node
	}
	return sum / int64(len(w.samples))
}
