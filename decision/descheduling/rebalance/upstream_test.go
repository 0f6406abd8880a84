package rebalance

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestUpstreamDecidesByTheSameThresholds with the defaults that LowNodeLoad needs to run.
func TestUpstreamDecidesByTheSameThresholds(t *testing.T) {
	args := DefaultArgs()
	args.HighThresholds[corev1.ResourceCPU], args.Paused, args.DryRun = 65, true, true
	got := args.LowNodeLoad()
	if got.HighThresholds[corev1.ResourceCPU] != 65 || got.LowThresholds[corev1.ResourceMemory] != 55 || !*got.Paused || !*got.DryRun || !*got.NodeFit {
		t.Errorf("arguments %+v", got)
	}
}
