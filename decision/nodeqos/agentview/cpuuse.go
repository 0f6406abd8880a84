package agentview

import (
	"slices"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/cpuset"
)

// CPUUse says what a CPU of a node is for.
type CPUUse int

// The uses, those of owners first.
const (
	// CPUConflict has several owners, or an owner that does not lend it while best-effort pods run on it.
	CPUConflict CPUUse = iota
	// CPUExclusive belongs to an LSE pod.
	CPUExclusive
	// CPULent belongs to an LSR pod, and best-effort pods may run on it.
	CPULent
	// CPUBound is given to a pod by the kubelet, or to a pod of another class.
	CPUBound
	// CPUReserved is reserved on the node.
	CPUReserved
	// CPUSystem is for SYSTEM pods.
	CPUSystem
	// CPUShared is shared by services and best-effort pods.
	CPUShared
	// CPUServices is shared by services.
	CPUServices
	// CPUBestEffort is for best-effort pods.
	CPUBestEffort
	// CPUFree has no owner and is in no pool.
	CPUFree
	// CPUUnknown is in no pool, and whether it has an owner is not known.
	CPUUnknown
)

// CPUUses says what each CPU in the zones of an answer is for. Best-effort pods run where suppression holds them to; where it does not, on
// their pool.
func CPUUses(e *diagnosticsv1alpha1.CPUExplanation) map[int]CPUUse {
	services, bestEffort, suppressed := poolOf(e, PoolShared), poolOf(e, PoolBestEffort), poolOf(e, PoolSuppressed)
	if !suppressed.IsEmpty() {
		bestEffort = suppressed
	}
	out := map[int]CPUUse{}
	for cpu := range parsed(e.All).All() {
		switch {
		case services.Has(cpu) && bestEffort.Has(cpu):
			out[cpu] = CPUShared
		case services.Has(cpu):
			out[cpu] = CPUServices
		case bestEffort.Has(cpu):
			out[cpu] = CPUBestEffort
		case e.OwnersUnknown != "":
			out[cpu] = CPUUnknown
		default:
			out[cpu] = CPUFree
		}
	}
	owned := map[int]bool{}
	for i := range e.Owners {
		owner := &e.Owners[i]
		use := useOf(owner)
		for cpu := range parsed(owner.CPUs).All() {
			out[cpu] = use
			if owned[cpu] || !owner.Lent && suppressed.Has(cpu) {
				out[cpu] = CPUConflict
			}
			owned[cpu] = true
		}
	}
	return out
}

func useOf(owner *diagnosticsv1alpha1.CPUOwner) CPUUse {
	switch extension.QoSClass(owner.QoSClass) {
	case extension.QoSLSE:
		return CPUExclusive
	case extension.QoSLSR:
		return CPULent
	case extension.QoSSystem:
		return CPUSystem
	}
	if owner.Namespace == "" {
		return CPUReserved
	}
	return CPUBound
}

// poolOf is all pools of a name.
func poolOf(e *diagnosticsv1alpha1.CPUExplanation, name string) cpuset.CPUSet {
	var all cpuset.CPUSet
	for i := range e.Pools {
		if e.Pools[i].Name == name {
			all = all.Union(parsed(e.Pools[i].CPUs))
		}
	}
	return all
}

// parsed is a list of CPUs; empty where it cannot be read.
func parsed(list string) cpuset.CPUSet {
	cpus, err := cpuset.Parse(list)
	if err != nil {
		return cpuset.CPUSet{}
	}
	return cpus
}

// Cores are the CPUs of each core of a zone.
func Cores(zone *diagnosticsv1alpha1.CPUZone) [][]int {
	out := make([][]int, 0, len(zone.Cores))
	for _, core := range zone.Cores {
		out = append(out, parsed(core).List())
	}
	return slices.DeleteFunc(out, func(cpus []int) bool { return len(cpus) == 0 })
}
