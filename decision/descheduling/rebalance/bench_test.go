package rebalance

import (
	"runtime"
	"testing"
)

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
