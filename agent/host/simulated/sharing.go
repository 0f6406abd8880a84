package simulated

import (
	"cmp"
	"slices"
	"time"
)

// behaviourOfSystem is what runs outside of pods: the kernel, kubelet and the container runtime.
type behaviourOfSystem struct {
	id uint64
	// nanos and memory are the levels at no pods; perPod is added for each pod, in billionths of a CPU.
	nanos, memory, perPod float64
}

func newBehaviourOfSystem(seed uint64, node Node) behaviourOfSystem {
	id := identity(seed, node.Name)
	return behaviourOfSystem{
		id:     id,
		nanos:  float64(node.Capacity.MilliCPU) * 1e6 * between(id, purposeLevel, 0.015, 0.030),
		memory: float64(node.Capacity.Memory) * between(id, purposePlateau, 0.03, 0.05),
		perPod: 5e6,
	}
}

func (s behaviourOfSystem) cpu(at float64, pods int) float64 {
	return (s.nanos + float64(pods)*s.perPod) * (1 + 0.15*noise(s.id+purposeNoise, at, time.Minute))
}

func (s behaviourOfSystem) bytes(at float64) float64 {
	return s.memory * (1 + 0.02*noise(s.id+purposeMemoryNoise, at, 10*time.Minute))
}

// ranked lists the indexes of pods by tier.
func ranked(pods []podState) []int {
	rank := make([]int, len(pods))
	for i := range rank {
		rank[i] = i
	}
	slices.SortStableFunc(rank, func(a, b int) int { return cmp.Compare(pods[a].tier, pods[b].tier) })
	return rank
}

// rates fills in what each pod uses of the CPU at a moment and returns what the system uses. The system comes first,
// then the tiers; a tier that wants more than is left shares it in proportion to what its pods want.
func (h *Host) rates(moment time.Time) (system int64) {
	at := seconds(moment)
	left := h.node.Capacity.MilliCPU * 1e6
	system = min(int64(h.machine.cpu(at, len(h.pods))), left)
	left -= system
	for begin := 0; begin < len(h.rank); {
		end, wanted := begin, 0.0
		for tier := h.pods[h.rank[begin]].tier; end < len(h.rank) && h.pods[h.rank[end]].tier == tier; end++ {
			demand := h.pods[h.rank[end]].demand.cpu(at, moment)
			h.use[h.rank[end]].NanoCores = int64(demand)
			wanted += demand
		}
		group := h.rank[begin:end]
		if h.node.HotPercent > 0 && h.pods[group[0]].tier == 0 {
			wanted = h.heat(group, at, wanted, system)
		}
		left = h.share(group, wanted, left)
		begin = end
	}
	return system
}

// share squeezes a tier into what is left of the CPU and returns what remains.
func (h *Host) share(group []int, wanted float64, left int64) int64 {
	scale := 1.0
	if wanted > float64(left) {
		scale = float64(left) / wanted
	}
	for _, i := range group {
		use := min(int64(float64(h.use[i].NanoCores)*scale), left)
		h.use[i].NanoCores = use
		left -= use
	}
	return left
}

// heat drives services up until the node uses its hot percentage, a few percent more or less, and returns what they
// want then. No pod goes beyond its limit, so that a node of small limits may stay cooler.
func (h *Host) heat(group []int, at, wanted float64, system int64) float64 {
	wobble := 1 + 0.03*noise(h.machine.id, at, time.Minute)
	target := h.nanos()*h.node.HotPercent/100*wobble - float64(system)
	if wanted <= 0 || wanted >= target {
		return wanted
	}
	scale, sum := target/wanted, 0.0
	for _, i := range group {
		use := min(float64(h.use[i].NanoCores)*scale, h.pods[i].demand.ceiling)
		h.use[i].NanoCores = int64(use)
		sum += use
	}
	return sum
}

// memory fills in the memory of each pod and returns that of the system. When all want more than there is, tiers are
// squeezed as for the CPU.
func (h *Host) memory(moment time.Time) (system int64) {
	at := seconds(moment)
	left := h.node.Capacity.Memory
	system = min(int64(h.machine.bytes(at)), left)
	left -= system
	for begin := 0; begin < len(h.rank); {
		end, wanted := begin, 0.0
		for tier := h.pods[h.rank[begin]].tier; end < len(h.rank) && h.pods[h.rank[end]].tier == tier; end++ {
			bytes := h.pods[h.rank[end]].demand.memory(at)
			h.use[h.rank[end]].Memory = int64(bytes)
			wanted += bytes
		}
		scale := 1.0
		if wanted > float64(left) {
			scale = float64(left) / wanted
		}
		for _, i := range h.rank[begin:end] {
			use := min(int64(float64(h.use[i].Memory)*scale), left)
			h.use[i].Memory = use
			left -= use
		}
		begin = end
	}
	return system
}
