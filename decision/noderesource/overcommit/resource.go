package overcommit

import (
	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/podrequest"
)

// kind is one of the four resources this package computes.
type kind struct {
	name  corev1.ResourceName
	short string
	cpu   bool
	mid   bool
}

var kinds = [...]kind{
	{name: extension.BatchCPU, short: "batch-cpu", cpu: true},
	{name: extension.BatchMemory, short: "batch-memory"},
	{name: extension.MidCPU, short: "mid-cpu", cpu: true, mid: true},
	{name: extension.MidMemory, short: "mid-memory", mid: true},
}

// Resources are the names this package computes, in the order in which results are listed.
func Resources() []corev1.ResourceName {
	names := make([]corev1.ResourceName, 0, len(kinds))
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// of picks the kind's side of an amount.
func (k kind) of(a podrequest.Amount) int64 {
	if k.cpu {
		return a.MilliCPU
	}
	return a.Memory
}

// plain is the plain resource the kind is made of: cpu or memory.
func (k kind) plain() corev1.ResourceName {
	if k.cpu {
		return corev1.ResourceCPU
	}
	return corev1.ResourceMemory
}

func (k kind) unit() diagnosticsv1alpha1.Unit {
	if k.cpu {
		return diagnosticsv1alpha1.MilliCPU
	}
	return diagnosticsv1alpha1.Bytes
}

// pick returns the first key for cpu and the second for memory.
func (k kind) pick(cpu, memory string) string {
	if k.cpu {
		return cpu
	}
	return memory
}
