package thirdparty

import diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"

// kind is cpu or memory.
type kind int

const (
	cpuKind kind = iota
	memoryKind
)

var kinds = [...]kind{cpuKind, memoryKind}

func (k kind) of(a Amount) int64 {
	if k == cpuKind {
		return a.MilliCPU
	}
	return a.Memory
}

func (k kind) held(m *Memory) *held {
	if k == cpuKind {
		return &m.cpu
	}
	return &m.memory
}

// down rounds an amount down to what the engine counts in.
func (k kind) down(amount int64, grain Amount) int64 {
	g := max(k.of(grain), 1)
	return amount - amount%g
}

func (k kind) unit() diagnosticsv1alpha1.Unit {
	if k == cpuKind {
		return diagnosticsv1alpha1.MilliCPU
	}
	return diagnosticsv1alpha1.Bytes
}
