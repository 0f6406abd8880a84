package colocationprofile

import (
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
)

// PriorityClass is what a pod inherits from an object of that kind.
type PriorityClass struct {
	// Value of the priority.
	Value int32 `json:"value"`
	// PreemptionPolicy of the class; empty means PreemptLowerPriority.
	PreemptionPolicy corev1.PreemptionPolicy `json:"preemptionPolicy,omitempty"`
}

// ClassOf is what a pod inherits from a class.
func ClassOf(object *schedulingv1.PriorityClass) PriorityClass {
	class := PriorityClass{Value: object.Value}
	if policy := object.PreemptionPolicy; policy != nil {
		class.PreemptionPolicy = *policy
	}
	return class
}

// Options apply to all pods.
type Options struct {
	// ExemptNamespaces are never changed: the system's own and kube-system.
	ExemptNamespaces []string
	// SkipResources leaves the resources of all pods alone.
	SkipResources bool
	// SkipResourceSpec writes no annotation with the batch and mid resources.
	SkipResourceSpec bool
	// TranslateOverhead also translates the overhead of the pod. The API server takes a pod's overhead from its RuntimeClass
	// and refuses any other, so this is for pod templates that it does not see as pods.
	TranslateOverhead bool
}

// Input is everything that decides about one pod.
type Input struct {
	// Pod as it is to be created. It is not modified.
	Pod *corev1.Pod
	// Namespace that the pod is created in.
	Namespace string
	// NamespaceLabels are the labels of the namespace.
	NamespaceLabels map[string]string
	// Profiles in any order. They are not modified.
	Profiles []configv1alpha1.ClusterColocationProfile
	// PriorityClasses by name.
	PriorityClasses map[string]PriorityClass
	// Chance returns a number from 0 to 99 for a profile with a probability; the profile applies when the number is below its
	// percentage. It is called once for each profile that selects the pod and applies neither never nor always.
	Chance func(profile string) int
	// Options apply to all pods.
	Options Options
}
