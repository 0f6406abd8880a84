package qos

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/agent/metrics"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/suppression"
)

// TestDisturbedServicesReachSuppression: what interference decides is a part of what the budget is computed from.
func TestDisturbedServicesReachSuppression(t *testing.T) {
	want := suppression.Relief{Percent: 64, Why: "shop/web is disturbed"}
	in := NodeSnapshot{Now: start, Relief: want, SLO: &slov1alpha1.NodeSLOSpec{}, Used: func() (metrics.Usage, bool) { return metrics.Usage{}, true }}
	in.Capacity.MilliCPU = 10_000
	measured := measurement(in)
	if diff := cmp.Diff(want, measured.Relief); diff != "" {
		t.Errorf("relief (-want +got):\n%s", diff)
	}
	if got := suppression.BudgetOf(measured, nil, nil).Milli; got != 4_160 { // 65 % of 10 CPUs, and 64 % of that
		t.Errorf("budget %d, want 4160", got)
	}
}
