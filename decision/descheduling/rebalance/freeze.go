package rebalance

import appsv1 "k8s.io/api/apps/v1"

// Freeze is why a workload is left alone.
type Freeze string

// The reasons of a freeze; empty for none.
const (
	// Rollout: the workload replaces its pods.
	Rollout Freeze = "Rollout"
	// ScaleDown: the workload removes pods. Which ones is told by their deletion cost.
	ScaleDown Freeze = "ScaleDown"
)

// FreezeOfDeployment is what a Deployment does itself; what autoscalers do with it, ScalesDown says.
func FreezeOfDeployment(d *appsv1.Deployment) Freeze {
	s, wanted := &d.Status, Replicas(d.Spec.Replicas)
	if s.ObservedGeneration < d.Generation || s.UpdatedReplicas < min(wanted, s.Replicas) {
		return Rollout
	}
	return freezeOf(wanted, s.Replicas)
}

// FreezeOfStatefulSet is FreezeOfDeployment of a StatefulSet.
func FreezeOfStatefulSet(s *appsv1.StatefulSet) Freeze {
	if s.Status.ObservedGeneration < s.Generation || s.Status.CurrentRevision != s.Status.UpdateRevision {
		return Rollout
	}
	return freezeOf(Replicas(s.Spec.Replicas), s.Status.Replicas)
}

// FreezeOfReplicaSet is FreezeOfDeployment of a ReplicaSet that no Deployment controls.
func FreezeOfReplicaSet(s *appsv1.ReplicaSet) Freeze {
	return freezeOf(Replicas(s.Spec.Replicas), s.Status.Replicas)
}

// Replicas is a number of replicas with its default, one.
func Replicas(wanted *int32) int32 {
	if wanted == nil {
		return 1
	}
	return *wanted
}

func freezeOf(wanted, running int32) Freeze {
	if wanted < running {
		return ScaleDown
	}
	return ""
}
