package diagnostics

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/agent/metrics"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// UsageHistory is what a node used before. Clock turns the time of a measurement into the cluster's, and speed is how many seconds
// of measurements pass in one of the cluster's: 1 but for machines that are simulated.
func UsageHistory(past *metrics.Past, clock func(time.Time) time.Time, speed float64) *diagnosticsv1alpha1.UsageHistory {
	out := &diagnosticsv1alpha1.UsageHistory{
		StepMilliseconds: int64(float64(metrics.PastStep.Milliseconds()) / speed),
		Moments:          []diagnosticsv1alpha1.UsageMoment{},
	}
	for _, m := range past.Moments() {
		node, system, prod := m.Node.Amount(), m.System.Amount(), m.Prod.Amount()
		mid, batch, free := m.Mid.Amount(), m.Batch.Amount(), m.Free.Amount()
		out.Moments = append(out.Moments, diagnosticsv1alpha1.UsageMoment{
			Time: metav1.NewTime(clock(m.At)),
			CPU: diagnosticsv1alpha1.UsageParts{
				Used: node.MilliCPU, SystemUsed: system.MilliCPU, ProdUsed: prod.MilliCPU,
				MidUsed: mid.MilliCPU, BatchUsed: batch.MilliCPU, FreeUsed: free.MilliCPU,
			},
			Memory: diagnosticsv1alpha1.UsageParts{
				Used: node.Memory, SystemUsed: system.Memory, ProdUsed: prod.Memory,
				MidUsed: mid.Memory, BatchUsed: batch.Memory, FreeUsed: free.Memory,
			},
		})
	}
	return out
}
