package usageclass

import (
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/podrequest"
)

// Share is what the pods of one class ask of one node.
type Share struct {
	Pods int64
	// MilliCPU requested, in whatever tier: a core is as busy with batch work as with any other.
	MilliCPU int64
}

// Shares of the classes on one node, by class.
type Shares map[string]Share

// ClassOf returns the usage class of a pod, empty for none.
func ClassOf(pod *corev1.Pod) string { return pod.Labels[extension.LabelUsageClass] }

// RequestOf is what a pod adds to its class.
func RequestOf(pod *corev1.Pod) Share {
	requests := podrequest.Of(pod).Requests
	return Share{Pods: 1, MilliCPU: requests.Of(podrequest.Plain).MilliCPU + requests.Of(podrequest.Mid).MilliCPU + requests.Of(podrequest.Batch).MilliCPU}
}

// Add counts a pod's request to its class.
func (s Shares) Add(class string, request Share) {
	before := s[class]
	s[class] = Share{Pods: before.Pods + request.Pods, MilliCPU: before.MilliCPU + request.MilliCPU}
}

// Input of Filter and Score.
type Input struct {
	Args *Args
	// Class of the pod, not empty.
	Class string
	// Pod's request.
	Pod Share
	// Taken by the pods of the class on the node.
	Taken Share
	// Allocatable cpu of the node, in milli-cores.
	Allocatable int64
}
