package objects

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/decision/descheduling/rebalance"
)

// FrozenWorkloads are the workloads that LoadAwareRebalancing leaves alone, by their UID, and why. ReplicaSets that no Deployment controls are
// taken to be at rest.
func FrozenWorkloads(deployments []appsv1.Deployment, sets []appsv1.StatefulSet, autoscalers []autoscalingv2.HorizontalPodAutoscaler) map[types.UID]rebalance.Freeze {
	type target struct{ namespace, kind, name string }
	scaledDown := map[target]bool{}
	for i := range autoscalers {
		if by := &autoscalers[i]; rebalance.ScalesDown(by) {
			scaledDown[target{by.Namespace, by.Spec.ScaleTargetRef.Kind, by.Spec.ScaleTargetRef.Name}] = true
		}
	}
	frozen := map[types.UID]rebalance.Freeze{}
	add := func(uid types.UID, itself rebalance.Freeze, of target) {
		if itself == "" && scaledDown[of] {
			itself = rebalance.ScaleDown
		}
		if itself != "" {
			frozen[uid] = itself
		}
	}
	for i := range deployments {
		d := &deployments[i]
		add(d.UID, rebalance.FreezeOfDeployment(d), target{d.Namespace, "Deployment", d.Name})
	}
	for i := range sets {
		s := &sets[i]
		add(s.UID, rebalance.FreezeOfStatefulSet(s), target{s.Namespace, "StatefulSet", s.Name})
	}
	return frozen
}
