package softeviction

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/nodeqos/eviction"
)

// Input is everything the soft evictions of one node depend on. Nothing in it is modified.
type Input struct {
	// Now is the time of the decision.
	Now time.Time
	// Pods of the node that have a request, in any order.
	Pods []Pod
	// Budget of the node; nil allows no eviction. Taken is how many pods the node is short for and that are evicted first.
	Budget *eviction.Budget
	Taken  int
}

// Pod is a pod with a request.
type Pod struct {
	eviction.Ref
	// Request is what the annotation says; nil when Problem says why it cannot be read.
	Request *extension.SoftEvictionSpec
	Problem string
	// Created is when the pod was, and ResourceVersion the one that preconditions are compared with.
	Created         time.Time
	ResourceVersion string
	// Active, Leaving and Refused are those of eviction.Pod.
	Active, Leaving bool
	Refused         eviction.Refusal
	// Protected says why the pod is not evicted; empty for most pods.
	Protected string
}

// PodOf reads a pod; false for one without a request. State is what the agent knows of the pod beside its object.
func PodOf(object *corev1.Pod, state *eviction.Pod) (Pod, bool) {
	if object.Annotations[extension.AnnotationSoftEviction] == "" {
		return Pod{}, false
	}
	out := Pod{
		Ref: state.Ref, Created: object.CreationTimestamp.Time, ResourceVersion: object.ResourceVersion,
		Active: state.Active, Leaving: state.Leaving, Refused: state.Refused, Protected: protection(object, state),
	}
	request, err := extension.GetSoftEvictionSpec(object.Annotations)
	if err != nil {
		out.Problem = err.Error()
		return out, true
	}
	out.Request = request
	return out, true
}

// protection says why a pod is not evicted.
func protection(object *corev1.Pod, state *eviction.Pod) string {
	if state.Critical != "" {
		return state.Critical
	}
	// An invalid cost counts as 0, as everywhere.
	if cost, err := extension.EvictionCost(object.Annotations); err == nil && cost == extension.EvictionCostNever {
		return fmt.Sprintf("its annotation %s is %d, which excludes it from migration", extension.AnnotationEvictionCost, cost)
	}
	if allowed, err := extension.IsEvictionAllowed(object.Annotations, string(eviction.SoftEvict)); err != nil || !allowed {
		return fmt.Sprintf("its annotation %s does not name %s", extension.AnnotationPodEvictPolicy, eviction.SoftEvict)
	}
	return ""
}
