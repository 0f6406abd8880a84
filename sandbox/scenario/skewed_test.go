package scenario

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// Thresholds of the chart: that of LoadAwareScheduling for CPU, its estimate, and those of LowNodeLoad.
const (
	schedulerThreshold = 0.65
	estimatedShare     = 0.85
	highThreshold      = 0.75
)

// TestTheCrowdedNodesAreHotHoweverTheirPodsAreDistributed: every distribution that koord-scheduler can choose between small and large
// nodes leaves at least one above the high threshold, and an even one all.
func TestTheCrowdedNodesAreHotHoweverTheirPodsAreDistributed(t *testing.T) {
	const used, requested = 3.0, 2.0 // CPUs of a pod
	for _, nodes := range []int{3, 12, 30, 100} {
		crowded := Crowded(nodes)
		total, most := 0, 0
		for _, wave := range wavesOf(t, Skewed, nodes) {
			total += wave.Replicas()
		}
		var offered float64
		for _, node := range Nodes(nodes)[:len(crowded)] {
			cpu := node.Status.Allocatable.Cpu().AsApproximateFloat64()
			offered += cpu
			most += int((cpu*schedulerThreshold - 0.04*cpu) / (requested * estimatedShare)) // the system uses up to 4 percent
		}
		if total > most {
			t.Errorf("%d nodes: %d pods are for nodes that take %d", nodes, total, most)
		}
		if share := float64(total) * used / offered; share <= highThreshold {
			t.Errorf("%d nodes: the crowded ones use %.0f%% of their CPU, not more than the high threshold", nodes, 100*share)
		}
	}
}

func TestEveryServiceOfTheSkewedScenarioHasReplicasAndABudget(t *testing.T) {
	for _, nodes := range sandboxSizes {
		replicas, budgets := map[string]int32{}, map[string]bool{}
		for _, wave := range wavesOf(t, Skewed, nodes) {
			for _, object := range wave.Objects {
				switch o := object.(type) {
				case *appsv1.Deployment:
					replicas[o.Name] = *o.Spec.Replicas
				case *policyv1.PodDisruptionBudget:
					budgets[o.Name] = o.Spec.MaxUnavailable.IntValue() == 1
				}
			}
		}
		for name, count := range replicas {
			if !budgets[name] || nodes >= 12 && count < 4 {
				t.Errorf("%d nodes: service %q has %d replicas, a budget: %t", nodes, name, count, budgets[name])
			}
		}
		if len(replicas) != len(skewedServices) {
			t.Errorf("%d nodes: %d services", nodes, len(replicas))
		}
	}
}
