package workloadview

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Workload is what controllers of pods have in common.
type Workload struct {
	metav1.ObjectMeta
	// Kind of the controller, such as Deployment.
	Kind string
	// Selector of its pods.
	Selector *metav1.LabelSelector
	// Replicas that are wanted, Current ones that the controller knows of, Updated ones of the latest template, and Ready ones.
	Replicas, Current, Updated, Ready int32
	// Unseen is true where the controller has not yet seen the latest specification.
	Unseen bool
	// Failure is why the controller could not create or delete pods; empty where it could.
	Failure string
}

// OfDeployment is what counts of a Deployment.
func OfDeployment(d *appsv1.Deployment) Workload {
	w := Workload{
		ObjectMeta: d.ObjectMeta, Kind: "Deployment", Selector: d.Spec.Selector, Replicas: replicas(d.Spec.Replicas),
		Current: d.Status.Replicas, Updated: d.Status.UpdatedReplicas, Ready: d.Status.ReadyReplicas, Unseen: d.Status.ObservedGeneration < d.Generation,
	}
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue {
			w.Failure = c.Message
		}
	}
	return w
}

// OfReplicaSet is what counts of a ReplicaSet, whose pods are all of its only template.
func OfReplicaSet(s *appsv1.ReplicaSet) Workload {
	w := Workload{
		ObjectMeta: s.ObjectMeta, Kind: "ReplicaSet", Selector: s.Spec.Selector, Replicas: replicas(s.Spec.Replicas),
		Current: s.Status.Replicas, Updated: s.Status.Replicas, Ready: s.Status.ReadyReplicas, Unseen: s.Status.ObservedGeneration < s.Generation,
	}
	for _, c := range s.Status.Conditions {
		if c.Type == appsv1.ReplicaSetReplicaFailure && c.Status == corev1.ConditionTrue {
			w.Failure = c.Message
		}
	}
	return w
}

// OfStatefulSet is what counts of a StatefulSet, which says nowhere but in its events that it could not create a pod.
func OfStatefulSet(s *appsv1.StatefulSet) Workload {
	w := Workload{
		ObjectMeta: s.ObjectMeta, Kind: "StatefulSet", Selector: s.Spec.Selector, Replicas: replicas(s.Spec.Replicas),
		Current: s.Status.Replicas, Updated: s.Status.UpdatedReplicas, Ready: s.Status.ReadyReplicas, Unseen: s.Status.ObservedGeneration < s.Generation,
	}
	if s.Status.CurrentRevision == s.Status.UpdateRevision {
		w.Updated = w.Current // its controller counts only pods of a rollout
	}
	return w
}

// OfDaemonSet is what counts of a DaemonSet, which wants a pod on each node that its template selects.
func OfDaemonSet(s *appsv1.DaemonSet) Workload {
	return Workload{
		ObjectMeta: s.ObjectMeta, Kind: "DaemonSet", Selector: s.Spec.Selector, Replicas: s.Status.DesiredNumberScheduled,
		Current: s.Status.CurrentNumberScheduled, Updated: s.Status.UpdatedNumberScheduled, Ready: s.Status.NumberReady,
		Unseen: s.Status.ObservedGeneration < s.Generation,
	}
}

// replicas is a number of replicas with its default.
func replicas(wanted *int32) int32 {
	if wanted == nil {
		return 1
	}
	return *wanted
}
