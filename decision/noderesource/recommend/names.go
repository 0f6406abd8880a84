package recommend

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"koordinator.sh/koord/api/extension"
)

// Names are the resources a container requests CPU and memory by.
type Names struct{ CPU, Memory corev1.ResourceName }

// NamesOf is by which resources a container requests: batch or mid resources where it requests any of them.
func NamesOf(c *corev1.Container) Names {
	for _, names := range []Names{{extension.BatchCPU, extension.BatchMemory}, {extension.MidCPU, extension.MidMemory}} {
		for _, list := range []corev1.ResourceList{c.Resources.Requests, c.Resources.Limits} {
			if _, ok := list[names.CPU]; ok {
				return names
			}
			if _, ok := list[names.Memory]; ok {
				return names
			}
		}
	}
	return Names{corev1.ResourceCPU, corev1.ResourceMemory}
}

// List is milli-cores and bytes as resources of these names. Memory is told in whole MiB, rounded up.
func (n Names) List(milli, bytes int64) corev1.ResourceList {
	const mebi = 1 << 20
	bytes = (bytes + mebi - 1) / mebi * mebi
	cpu := *resource.NewMilliQuantity(milli, resource.DecimalSI)
	if n.CPU != corev1.ResourceCPU {
		// Batch and mid CPU is counted in whole milli-cores.
		cpu = *resource.NewQuantity(milli, resource.DecimalSI)
	}
	return corev1.ResourceList{n.CPU: cpu, n.Memory: *resource.NewQuantity(bytes, resource.BinarySI)}
}
