package rebalance

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

var both = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}

func strategy(enable bool, change func(*slov1alpha1.ResourceThresholdStrategy)) *slov1alpha1.ResourceThresholdStrategy {
	s := &slov1alpha1.ResourceThresholdStrategy{Enable: &enable}
	if change != nil {
		change(s)
	}
	return s
}

func TestLimits(t *testing.T) {
	scheduler := map[corev1.ResourceName]int64{"cpu": 65, "memory": 95}
	evicting := func(s *slov1alpha1.ResourceThresholdStrategy) {
		s.CPUEvictThresholdPercent, s.MemoryEvictThresholdPercent = new(int64(90)), new(int64(70))
	}
	for name, test := range map[string]struct {
		scheduler map[corev1.ResourceName]int64
		agent     *slov1alpha1.ResourceThresholdStrategy
		want      []float64
	}{
		"none":                             {want: []float64{0, 0}},
		"the scheduler's":                  {scheduler: scheduler, want: []float64{0.65, 0.95}},
		"the lower one of both":            {scheduler: scheduler, agent: strategy(true, evicting), want: []float64{0.65, 0.7}},
		"the agent's alone":                {agent: strategy(true, evicting), want: []float64{0.9, 0.7}},
		"an agent that does not evict":     {scheduler: scheduler, agent: strategy(false, evicting), want: []float64{0.65, 0.95}},
		"an agent without such thresholds": {agent: strategy(true, nil), want: []float64{0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Limits(both, test.scheduler, test.agent), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
				t.Errorf("limits (-want +got):\n%s", diff)
			}
		})
	}
}

// TestReclaimable of a node of 100 CPU.
func TestReclaimable(t *testing.T) {
	least := func(s *slov1alpha1.ResourceThresholdStrategy) { s.CPUSuppressMinPercent = new(int64(10)) }
	for name, test := range map[string]struct {
		agent             *slov1alpha1.ResourceThresholdStrategy
		total, bestEffort float64
		want              float64
	}{
		"what is above the threshold":        {agent: strategy(true, nil), total: 85, bestEffort: 30, want: 20},
		"a threshold that is set":            {agent: strategy(true, func(s *slov1alpha1.ResourceThresholdStrategy) { s.CPUSuppressThresholdPercent = new(int64(80)) }), total: 85, bestEffort: 30, want: 5},
		"all of it":                          {agent: strategy(true, nil), total: 95, bestEffort: 20, want: 20},
		"but for what it always has":         {agent: strategy(true, least), total: 95, bestEffort: 20, want: 10},
		"nothing below the threshold":        {agent: strategy(true, nil), total: 60, bestEffort: 30},
		"nothing where nothing is held back": {agent: strategy(false, nil), total: 85, bestEffort: 30},
		"nothing without a strategy":         {total: 85, bestEffort: 30},
	} {
		t.Run(name, func(t *testing.T) {
			var want []float64
			if test.want > 0 {
				want = []float64{test.want, 0}
			}
			got := Reclaimable(both, []float64{100, 100}, []float64{test.total, 50}, []float64{test.bestEffort, 10}, test.agent)
			if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
				t.Errorf("reclaimable (-want +got):\n%s", diff)
			}
		})
	}
}
