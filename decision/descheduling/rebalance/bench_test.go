package rebalance

import (
	"runtime"
	"testing"
	"time"
)

// BenchmarkObservations is the prediction of 150,000 pods, each alone and together with those of its node, from a full record.
func BenchmarkObservations(b *testing.B) {
	w := skewed(5000, 30, 0.1)
	observed := NewObservations(2, time.Hour)
	for slot := range slots {
		for i := range w.Pods {
			observed.Observe(w.Pods[i].Name, w.Pods[i].Usage, noon.Add(time.Duration(slot)*5*time.Minute))
		}
	}
	names := make([]string, 30)
	b.ReportAllocs()
	for b.Loop() {
		for n := range w.Nodes {
			for i := range names {
				names[i] = w.Pods[n*30+i].Name
				observed.Peak(names[i])
			}
			observed.PeakOfSum(names)
		}
	}
}

// BenchmarkDecide is a pass over 5,000 nodes and 150,000 pods: with a tenth of the nodes overutilized, and with a half of them, where
// most pods have no target; and where the scheduler refuses every target.
func BenchmarkDecide(b *testing.B) {
	nowhere := func(int, int, []Move) (string, bool) { return "node(s) refused", false }
	for name, test := range map[string]struct {
		hot      float64
		feasible Feasibility
	}{"balanced": {}, "tenthHot": {hot: 0.1}, "halfHot": {hot: 0.5}, "nothingFeasible": {0.1, nowhere}} {
		b.Run(name, func(b *testing.B) {
			w := skewed(5000, 30, test.hot)
			w.Args.MaxMovesPerPass, w.Feasible = new(int64(1000)), test.feasible
			b.ReportAllocs()
			b.ResetTimer()
			var plan Plan
			for b.Loop() {
				plan = Decide(w.Input, nil)
			}
			b.ReportMetric(float64(len(plan.Moves())), "moves")
			var memory runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&memory)
			b.ReportMetric(float64(memory.HeapAlloc)/(1<<20), "MiB-heap")
			runtime.KeepAlive(w)
		})
	}
}
