package suppression

import (
	"koordinator.sh/koord/decision/core/cpuset"
)

// poolShare is how many CPUs a pool gives.
type poolShare struct {
	pool  string
	cpus  cpuset.CPUSet
	count int
}

// shares divides a count over the pools in proportion to their sizes; what does not divide comes from the shared pool. The
// count is at most the sum of the pools, so neither share exceeds its pool, and two empty pools have nothing to divide.
func shares(count int, lent, shared cpuset.CPUSet) []poolShare {
	total := lent.Len() + shared.Len()
	if total == 0 || count <= 0 {
		return nil
	}
	fromLent := count * lent.Len() / total
	return []poolShare{{PoolLSR, lent, fromLent}, {PoolShared, shared, count - fromLent}}
}

// pick takes CPUs of a pool: whole cores as long as they fit, then CPUs whose core is not wholly in the pool, then parts of
// cores. Each pass goes round the NUMA nodes and sockets, one core each, in the order of their ids, so that the next larger
// count takes nearly the same CPUs and more. It returns how many whole cores there are.
func pick(topology *cpuset.Topology, pool cpuset.CPUSet, count int) (taken cpuset.CPUSet, whole int) {
	cores := roundRobin(topology, pool)
	cpus := make([]int, 0, count)
	used := make([]bool, len(cores))
	for i, core := range cores {
		if core.whole && len(core.cpus) <= count-len(cpus) {
			cpus, used[i], whole = append(cpus, core.cpus...), true, whole+1
		}
	}
	for _, wantWhole := range []bool{false, true} {
		for i, core := range cores {
			if !used[i] && core.whole == wantWhole {
				give := min(len(core.cpus), count-len(cpus))
				cpus = append(cpus, core.cpus[:give]...)
			}
		}
	}
	return cpuset.Of(cpus...), whole
}

// core is the CPUs of a core that lie in a pool; whole when all of them do.
type core struct {
	cpus  []int
	whole bool
}

// roundRobin lists the cores of a pool, in turns from each NUMA node and socket.
func roundRobin(topology *cpuset.Topology, pool cpuset.CPUSet) []core {
	var buckets [][]core
	for _, node := range topology.Nodes {
		for _, socket := range topology.Sockets {
			if bucket := coresIn(topology, pool, node.CPUs.Intersection(socket.CPUs)); len(bucket) > 0 {
				buckets = append(buckets, bucket)
			}
		}
	}
	var out []core
	for round, more := 0, true; more; round++ {
		more = false
		for _, bucket := range buckets {
			if round < len(bucket) {
				out, more = append(out, bucket[round]), true
			}
		}
	}
	return out
}

// coresIn are the cores with CPUs in a pool and a place, by the lowest of their CPUs.
func coresIn(topology *cpuset.Topology, pool, place cpuset.CPUSet) []core {
	var out []core
	for _, group := range topology.Cores {
		here := group.CPUs.Intersection(pool).Intersection(place)
		if !here.IsEmpty() {
			out = append(out, core{cpus: here.List(), whole: here.Equal(group.CPUs)})
		}
	}
	return out
}
