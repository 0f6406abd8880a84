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

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/descheduling/loopguard"
)

// loopReporter counts the workloads that are not moved because they went in circles, and records an event on each when that begins. It is
// safe for concurrent use.
type loopReporter struct {
	recorder events.EventRecorder
	gauge    *prometheus.GaugeVec

	mu sync.Mutex
	// known are the workloads that have their event, with the time until which they are not moved.
	known map[string]time.Time
}

func newLoopReporter(recorder events.EventRecorder, registerer prometheus.Registerer) (*loopReporter, error) {
	r := &loopReporter{
		recorder: recorder, known: map[string]time.Time{},
		gauge: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Subsystem: "descheduler", Name: "stopped_workloads",
			Help: "Workloads that the last pass of LoadAwareRebalancing did not move because they went in circles, by the code of the finding.",
		}, []string{"code"}),
	}
	if err := registerer.Register(r.gauge); err != nil {
		return nil, fmt.Errorf("register metrics of stopped workloads: %w", err)
	}
	return r, nil
}

// stopped takes the workloads that a pass does not move.
func (r *loopReporter) stopped(_ context.Context, loops []loopguard.Loop) {
	r.mu.Lock()
	defer r.mu.Unlock()
	counts, known := map[finding.Code]int{finding.MigrationLoop: 0, finding.MigrationTooFrequent: 0}, map[string]time.Time{}
	for _, loop := range loops {
		counts[loop.Code]++
		known[loop.Workload] = loop.Until
		if _, before := r.known[loop.Workload]; before {
			continue
		}
		if object := workloadOf(&loop); object != nil {
			r.recorder.Eventf(object, nil, corev1.EventTypeWarning, "MigrationStopped", "Rebalance", "%s %s; it is not moved until %s", loop.Code, loop.Message, loop.Until.UTC().Format(time.RFC3339))
		}
	}
	r.known = known
	for code, count := range counts {
		r.gauge.WithLabelValues(string(code)).Set(float64(count))
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
