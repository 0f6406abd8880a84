package oomscore

import (
	"math/bits"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
)

// Values of the kubelet.
const (
	// Guaranteed pods, and critical ones, are killed last of all pods.
	Guaranteed = -997
	// BestEffort pods are killed first.
	BestEffort = 1000
	// Burstable pods lie between these.
	leastBurstable = 1000 + Guaranteed
	mostBurstable  = BestEffort - 1
)

// nodeCritical is the class whose pods the kubelet treats as guaranteed.
const nodeCritical = "system-node-critical"

// Source says where a score comes from.
type Source string

// Sources of a score.
const (
	FromAnnotation Source = "annotation"
	FromKubelet    Source = "kubelet"
)

// Score of the processes of one container.
type Score struct {
	// Value from -1000 to 1000; higher is killed earlier.
	Value  int64  `json:"value"`
	Source Source `json:"source"`
	// Problem says why the annotation does not count; empty when it does, or there is none.
	Problem string `json:"problem,omitempty"`
}

// Of is the score of a container. Only containers have one: the sandbox of a pod keeps what the runtime gave it.
func Of(annotations map[string]string, container string, kubelet int64) Score {
	wanted, err := extension.OOMScoreAdj(annotations, container)
	switch {
	case err != nil:
		return Score{Value: kubelet, Source: FromKubelet, Problem: err.Error()}
	case wanted == nil:
		return Score{Value: kubelet, Source: FromKubelet}
	}
	return Score{Value: *wanted, Source: FromAnnotation}
}

// Kubelet is the score that the kubelet gives a container: burstable ones by the share of the node's memory that they request,
// in bytes.
func Kubelet(class corev1.PodQOSClass, priorityClassName string, request, nodeCapacity int64) int64 {
	switch {
	case priorityClassName == nodeCritical || class == corev1.PodQOSGuaranteed:
		return Guaranteed
	case class == corev1.PodQOSBestEffort || nodeCapacity <= 0:
		return BestEffort
	}
	share := int64(1000)
	if request < nodeCapacity {
		// The quotient is below 1000, because the request is below the capacity.
		high, low := bits.Mul64(uint64(max(request, 0)), 1000)
		quotient, _ := bits.Div64(high, low, uint64(nodeCapacity))
		share = int64(quotient)
	}
	return min(max(1000-share, leastBurstable), mostBurstable)
}
