package capacity

import (
	"fmt"
	"math"
	"math/bits"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/podrequest"
)

// Bounds of the cpu normalisation ratio, in percent.
const (
	minNormalization = 100
	maxNormalization = 500
)

// Capacity is how much cpu and memory a node has.
type Capacity struct {
	// Total is node.status.capacity.
	Total podrequest.Amount
	// Raw is what the kubelet offers to pods, before amplification.
	Raw podrequest.Amount
	// Shown is node.status.allocatable, after amplification; equal to Raw on most nodes.
	Shown podrequest.Amount
	// NormalizationPercent is what one cpu of the node is worth, 100 to 500: 120 means 1.2 reference cpus.
	NormalizationPercent int64
	// Problems names the annotations that could not be read. Their effect is left out.
	Problems []string
}

// Of reads a node's figures. An annotation that cannot be read, or is out of its bounds, is left out and reported.
func Of(node *corev1.Node) Capacity {
	out := Capacity{
		Total:                amountOf(node.Status.Capacity),
		Shown:                amountOf(node.Status.Allocatable),
		NormalizationPercent: minNormalization,
	}
	out.Raw = out.Shown
	if len(node.Annotations) > 0 {
		out.readRaw(node)
		out.readNormalization(node)
	}
	return out
}

func (c *Capacity) readRaw(node *corev1.Node) {
	raw, err := extension.GetNodeRawAllocatable(node.Annotations)
	if err != nil {
		c.Problems = append(c.Problems, err.Error())
		return
	}
	if cpu, ok := raw[corev1.ResourceCPU]; ok {
		c.Raw.MilliCPU = max(podrequest.Milli(cpu), 0)
	}
	if memory, ok := raw[corev1.ResourceMemory]; ok {
		c.Raw.Memory = max(podrequest.Whole(memory), 0)
	}
}

func (c *Capacity) readNormalization(node *corev1.Node) {
	ratio, err := extension.CPUNormalizationRatio(node.Annotations)
	if err != nil {
		c.Problems = append(c.Problems, err.Error())
		return
	}
	if ratio == nil {
		return
	}
	percent := math.Round(*ratio * 100)
	switch {
	case percent < minNormalization:
		// A ratio below one never shrinks batch-cpu; Koordinator only ever amplifies.
	case percent > maxNormalization:
		c.Problems = append(c.Problems, fmt.Sprintf("annotation %q: ratio %v is above %v",
			extension.AnnotationCPUNormalizationRatio, *ratio, maxNormalization/100))
	default:
		c.NormalizationPercent = int64(percent)
	}
}

// KubeletReserved is what the kubelet keeps from pods: total less raw, at least zero.
func (c Capacity) KubeletReserved() podrequest.Amount {
	return podrequest.Amount{
		MilliCPU: max(c.Total.MilliCPU-c.Raw.MilliCPU, 0),
		Memory:   max(c.Total.Memory-c.Raw.Memory, 0),
	}
}

// Amplified reports whether the node shows more than the kubelet offers.
func (c Capacity) Amplified() bool { return c.Shown != c.Raw }

func amountOf(list corev1.ResourceList) podrequest.Amount {
	cpu, memory := list[corev1.ResourceCPU], list[corev1.ResourceMemory]
	return podrequest.Amount{MilliCPU: max(podrequest.Milli(cpu), 0), Memory: max(podrequest.Whole(memory), 0)}
}

// Percent is value*percent/100, rounded towards zero, with the product in 128 bits. A result beyond the range of int64
// stays at its end.
func Percent(value, percent int64) int64 {
	negative := (value < 0) != (percent < 0)
	high, low := bits.Mul64(magnitude(value), magnitude(percent))
	if high >= 100 {
		return saturated(negative)
	}
	quotient, _ := bits.Div64(high, low, 100)
	if quotient > math.MaxInt64 {
		return saturated(negative)
	}
	if negative {
		return -int64(quotient)
	}
	return int64(quotient)
}

func magnitude(value int64) uint64 {
	if value < 0 {
		return uint64(-(value + 1)) + 1
	}
	return uint64(value)
}

func saturated(negative bool) int64 {
	if negative {
		return math.MinInt64
	}
	return math.MaxInt64
}
