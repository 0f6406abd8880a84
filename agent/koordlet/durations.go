package koordlet

import (
	"path"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/hooks"
	"koordinator.sh/koord/agent/host/files"
)

// buckets of durations in milliseconds, from 10 us to 164 ms.
var buckets = prometheus.ExponentialBuckets(0.01, 4, 8)

// hookDurations are how long container runtimes wait for what containers get, by stage.
type hookDurations struct{ histogram *prometheus.HistogramVec }

func newHookDurations() *hookDurations {
	return &hookDurations{prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: "koordlet", Name: "runtime_hook_invoked_duration_milliseconds",
		Help: "Latency of runtime hooks in milliseconds, by stage.", Buckets: buckets,
	}, []string{"stage"})}
}

func (h *hookDurations) observe(stage hooks.Stage, took time.Duration) {
	h.histogram.WithLabelValues(string(stage)).Observe(milliseconds(took))
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// writeDurations are how long the kernel takes for writes, by the names of files: there are some dozens of those.
type writeDurations struct {
	clock     clock.PassiveClock
	histogram *prometheus.HistogramVec
}

func newWriteDurations(clock clock.PassiveClock) *writeDurations {
	return &writeDurations{clock: clock, histogram: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: "koordlet", Name: "resource_update_duration_milliseconds",
		Help:    "Latency of writes to kernel files in milliseconds, by file and status.",
		Buckets: buckets,
	}, []string{"type", "status"})}
}

// of a tree that is written to through what it returns.
func (w *writeDurations) of(tree *files.Real) files.FS { return timedTree{Real: tree, times: w} }

func (w *writeDurations) observe(name string, begun time.Time, err error) {
	status := "success"
	if err != nil {
		status = "failed"
	}
	w.histogram.WithLabelValues(path.Base(name), status).Observe(milliseconds(w.clock.Since(begun)))
}

// timedTree is a tree whose writes are timed.
type timedTree struct {
	*files.Real
	times *writeDurations
}

// Write implements files.FS.
func (t timedTree) Write(name, value string) error {
	begun := t.times.clock.Now()
	err := t.Real.Write(name, value)
	t.times.observe(name, begun, err)
	return err
}

// OpenSubtree implements files.Opener.
func (t timedTree) OpenSubtree(name string) (files.Subtree, error) {
	below, err := t.Real.OpenSubtree(name)
	if err != nil {
		return nil, err
	}
	return timedSubtree{Subtree: below, times: t.times}, nil
}

// timedSubtree is a directory of a timedTree.
type timedSubtree struct {
	files.Subtree
	times *writeDurations
}

// Write implements files.FS.
func (t timedSubtree) Write(name, value string) error {
	begun := t.times.clock.Now()
	err := t.Subtree.Write(name, value)
	t.times.observe(name, begun, err)
	return err
}
