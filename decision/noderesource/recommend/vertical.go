package recommend

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// VerticalGroup, VerticalVersion and VerticalResource are where VerticalPodAutoscalers are served.
const (
	VerticalGroup    = "autoscaling.k8s.io"
	VerticalVersion  = "v1"
	VerticalResource = "verticalpodautoscalers"
)

// verticalOff is the mode in which nothing is set, of an autoscaler or of a container. allContainers names those without a policy of their own.
const (
	verticalOff   = "Off"
	allContainers = "*"
)

// VerticalAutoscaler is what is read of a VerticalPodAutoscaler.
type VerticalAutoscaler struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              VerticalSpec `json:"spec"`
}

// VerticalSpec says whose resources it sets, and which.
type VerticalSpec struct {
	TargetRef      *autoscalingv1.CrossVersionObjectReference `json:"targetRef"`
	UpdatePolicy   *VerticalUpdatePolicy                      `json:"updatePolicy"`
	ResourcePolicy *VerticalResourcePolicy                    `json:"resourcePolicy"`
	// StartupBoost raises the CPU of pods that start, whatever the mode.
	StartupBoost *VerticalStartupBoost `json:"startupBoost"`
}

// VerticalUpdatePolicy says when resources are set.
type VerticalUpdatePolicy struct {
	// UpdateMode is Recreate where it is not given.
	UpdateMode string `json:"updateMode"`
}

// VerticalResourcePolicy says which resources of which containers are set.
type VerticalResourcePolicy struct {
	ContainerPolicies []VerticalContainerPolicy `json:"containerPolicies"`
}

// VerticalContainerPolicy is that of a container.
type VerticalContainerPolicy struct {
	// ContainerName is * for all that have no policy of their own.
	ContainerName string `json:"containerName"`
	// Mode is Auto or Off.
	Mode string `json:"mode"`
	// ControlledResources are cpu and memory where they are not given.
	ControlledResources *[]corev1.ResourceName `json:"controlledResources"`
	// StartupBoost takes the place of the one of all containers.
	StartupBoost *VerticalStartupBoost `json:"startupBoost"`
}

// VerticalStartupBoost of the CPU; its amount does not matter here.
type VerticalStartupBoost struct {
	CPU *struct{} `json:"cpu"`
}

// sets are the resources that are set of the containers of a policy, or of those without one.
func (s *VerticalSpec) sets(off bool, policy *VerticalContainerPolicy) []corev1.ResourceName {
	resources, boost := []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}, s.StartupBoost
	if policy != nil {
		off = off || policy.Mode == verticalOff
		if policy.ControlledResources != nil {
			resources = *policy.ControlledResources
		}
		if policy.StartupBoost != nil {
			boost = policy.StartupBoost
		}
	}
	switch {
	case !off:
		return resources
	case boost != nil && boost.CPU != nil:
		return []corev1.ResourceName{corev1.ResourceCPU}
	}
	return nil
}
