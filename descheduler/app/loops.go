package app

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/descheduling/loopguard"
)

// loopReporter counts the workloads that are not moved because they go in circles, and records an event on each and logs it when that
// begins. It is safe for concurrent use.
type loopReporter struct {
	recorder events.EventRecorder
	gauge    *prometheus.GaugeVec

	mu sync.Mutex
	// found are the workloads that each finder does not move at present, by the finder.
	found map[finder][]loopguard.Loop
	// known are the workloads that have their event.
	known map[string]bool
}

// finder is what finds workloads that go in circles.
type finder string

const (
	// everyPlugin: what the framework finds holds for all plugins.
	everyPlugin finder = "every plugin"
	// planner: LoadAwareRebalancing also finds workloads that move too often, which it alone does not move.
	planner finder = "LoadAwareRebalancing"
)

func newLoopReporter(recorder events.EventRecorder, registerer prometheus.Registerer) (*loopReporter, error) {
	r := &loopReporter{
		recorder: recorder, found: map[finder][]loopguard.Loop{}, known: map[string]bool{},
		gauge: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Subsystem: "descheduler", Name: "stopped_workloads",
			Help: "Workloads that the last pass did not move: KOORD1501 for those that go in circles, KOORD1502 for those that LoadAwareRebalancing moved too often.",
		}, []string{"code"}),
	}
	if err := registerer.Register(r.gauge); err != nil {
		return nil, fmt.Errorf("register metrics of stopped workloads: %w", err)
	}
	return r, nil
}

// from returns what takes the workloads that a pass does not move, as far as one finder finds them.
func (r *loopReporter) from(by finder) func(context.Context, []loopguard.Loop) {
	return func(ctx context.Context, loops []loopguard.Loop) { r.stopped(ctx, by, loops) }
}

func (r *loopReporter) stopped(ctx context.Context, by finder, loops []loopguard.Loop) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.found[by] = loops
	codes := map[string]finding.Code{}
	for _, from := range []finder{everyPlugin, planner} {
		for i := range r.found[from] {
			loop := &r.found[from][i]
			if _, counted := codes[loop.Workload]; counted {
				continue
			}
			codes[loop.Workload] = loop.Code
			if !r.known[loop.Workload] {
				r.report(ctx, from, loop)
			}
		}
	}
	r.known = make(map[string]bool, len(codes))
	counts := map[finding.Code]int{finding.MigrationLoop: 0, finding.MigrationTooFrequent: 0}
	for workload, code := range codes {
		r.known[workload] = true
		counts[code]++
	}
	for code, count := range counts {
		r.gauge.WithLabelValues(string(code)).Set(float64(count))
	}
}

// report logs that a workload is not moved any more, and records it on the workload.
func (r *loopReporter) report(ctx context.Context, by finder, loop *loopguard.Loop) {
	klog.FromContext(ctx).Info("Workload is not moved", "code", loop.Code, "workload", loop.Workload, "by", by, "until", loop.Until, "reason", loop.Message)
	if object := workloadOf(loop); object != nil {
		r.recorder.Eventf(object, nil, corev1.EventTypeWarning, "MigrationStopped", "Rebalance", "%s %s; it is not moved until %s", loop.Code, loop.Message, loop.Until.UTC().Format(time.RFC3339))
	}
}

// workloadOf refers to the workload of a loop, which is named kind/name/uid, in the namespace of its pods; nil when one is not known.
func workloadOf(loop *loopguard.Loop) *corev1.ObjectReference {
	parts := strings.Split(loop.Workload, "/")
	if len(parts) != 3 {
		return nil
	}
	for _, move := range loop.Moves {
		if namespace, _, ok := strings.Cut(move.Pod, "/"); ok {
			return &corev1.ObjectReference{Kind: parts[0], Namespace: namespace, Name: parts[1], UID: types.UID(parts[2])}
		}
	}
	return nil
}
