package recommend

import (
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/podresize"
)

// Usage of a pod or a container: cores and bytes.
type Usage struct{ Cores, Bytes float64 }

// Share is one container's part of its pod's usage.
type Share struct {
	Container string
	Usage     Usage
}

// SplitUsage divides a pod's usage among its containers by what they request, because it is measured for the pod as a whole.
// A container that requests nothing counts like the smallest request beside it. The shares add up to the usage.
func SplitUsage(pod *corev1.Pod, usage Usage) []Share {
	containers := podresize.Containers(pod)
	cpu := weights(containers, corev1.ResourceCPU, extension.BatchCPU, extension.MidCPU)
	memory := weights(containers, corev1.ResourceMemory, extension.BatchMemory, extension.MidMemory)
	out := make([]Share, len(containers))
	for i, c := range containers {
		out[i] = Share{c.Name, Usage{Cores: usage.Cores * cpu[i], Bytes: usage.Bytes * memory[i]}}
	}
	return out
}

// weights are shares of 1 by the request of the first resource that a container requests, in any unit common to all.
func weights(containers []*corev1.Container, plain corev1.ResourceName, tiers ...corev1.ResourceName) []float64 {
	out := make([]float64, len(containers))
	least := 0.0
	for i, c := range containers {
		out[i] = requested(c, plain, tiers...)
		if out[i] > 0 && (least == 0 || out[i] < least) {
			least = out[i]
		}
	}
	sum := 0.0
	for i := range out {
		if out[i] == 0 {
			out[i] = max(least, 1)
		}
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

// requested is a container's request or else its limit: CPU in milli-cores, memory in bytes.
func requested(c *corev1.Container, plain corev1.ResourceName, tiers ...corev1.ResourceName) float64 {
	for _, list := range []corev1.ResourceList{c.Resources.Requests, c.Resources.Limits} {
		for _, name := range append([]corev1.ResourceName{plain}, tiers...) {
			quantity, ok := list[name]
			if !ok || quantity.Sign() <= 0 {
				continue
			}
			if name == corev1.ResourceCPU {
				return float64(quantity.MilliValue())
			}
			return float64(quantity.Value())
		}
	}
	return 0
}
