package numa

import (
	"maps"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/cpuset"
)

// maxBlockers bounds the holders that are tried.
const maxBlockers = 16

// Reduced is the most cpu below the request, in milliCPU, with which Filter would pass: whole CPUs, and whole cores where
// the policy wants them. 0 means none.
func Reduced(in Input) int64 {
	most := (in.Request.MilliCPU() - 1) / 1000
	if in.Ledger.Node.CPUs != nil {
		most = min(most, int64(in.Ledger.Node.CPUs.CPUs.Len()))
	} else {
		most = min(most, extension.MaxCPUID)
	}
	for count := most; count > 0; count-- {
		reduced := *in.Request
		reduced.Amounts = maps.Clone(in.Request.Amounts)
		reduced.Amounts[corev1.ResourceCPU] = count * 1000
		in.Request = &reduced
		if _, verdict := Filter(in, nil); verdict.Passed() {
			return count * 1000
		}
	}
	return 0
}

// Blockers are the indices of the holders without any one of which Filter would pass. At most sixteen are tried.
func Blockers(in Input) []int {
	whole := in.Ledger
	var blockers []int
	for i := range whole.Holders[:min(len(whole.Holders), maxBlockers)] {
		rest := make([]Holder, 0, len(whole.Holders))
		rest = append(append(rest, whole.Holders[:i]...), whole.Holders[i+1:]...)
		in.Ledger = NewLedger(whole.Node, rest)
		if _, verdict := Filter(in, nil); verdict.Passed() {
			blockers = append(blockers, i)
		}
	}
	return blockers
}

// Distance says how far a node is from passing: the missing share of what was asked for; 1 where that is no amount.
func (t *Trace) Distance(verdict Verdict) float64 {
	switch verdict.Code {
	case "":
		return 0
	case finding.CPUsExhausted:
		return missing(int64(cpuset.CountOf(t.node().CPUs, t.free).Free), int64(t.terms.count))
	case finding.CPUBindPolicyUnsatisfied:
		count := cpuset.CountOf(t.node().CPUs, t.free)
		if verdict.Policy == extension.CPUBindPolicyFullPCPUs {
			return missing(int64(count.Idle), int64(t.terms.count))
		}
		return missing(int64(count.Cores), int64(t.terms.count))
	case finding.AmplifiedCPUInsufficient:
		return missing(t.input.AllocatableMilliCPU-t.taken, t.wanted)
	case finding.NUMAResourceInsufficient:
		return missing(t.input.Ledger.freeIn(t.node().mask(), verdict.Resource), t.input.wanted(t.terms, verdict.Resource))
	}
	return 1
}

func missing(have, want int64) float64 {
	if want <= 0 {
		return 1
	}
	return float64(max(want-max(have, 0), 0)) / float64(want)
}
