package numa

import (
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/capacity"
	"koordinator.sh/koord/decision/core/cpuset"
)

// terms are what pod and node agree on.
type terms struct {
	bind     bool
	count    int
	policy   extension.CPUBindPolicy
	required bool
	align    extension.NUMATopologyPolicy
}

// agree settles how the pod is bound and aligned on the node.
func agree(request *Request, node *Node) (terms, Verdict) {
	t := terms{bind: request.Bind, policy: request.policy(), required: request.Required != "", align: node.Policy}
	if request.Policy != extension.NUMATopologyPolicyNone {
		if node.Policy != extension.NUMATopologyPolicyNone && node.Policy != request.Policy {
			return t, Verdict{Code: finding.NUMAPolicyMismatch}
		}
		t.align = request.Policy
	}
	if request.MilliCPU() == 0 {
		return t, Verdict{}
	}
	if node.RatioInvalid {
		return t, Verdict{Code: finding.AmplificationInvalid}
	}
	if demanded := demandedPolicy(node.BindPolicy); demanded != "" {
		if request.Required != "" && request.Required != demanded {
			return t, Verdict{Code: finding.CPUBindPolicyConflict}
		}
		if request.MilliCPU()%1000 != 0 {
			return t, Verdict{Code: finding.CPUsNotInteger}
		}
		t.bind, t.policy, t.required = true, demanded, true
	}
	if !t.bind {
		return t, Verdict{}
	}
	t.count = int(min(request.MilliCPU()/1000, extension.MaxCPUID+1))
	if node.CPUs == nil {
		return t, Verdict{Code: finding.CPUTopologyInvalid}
	}
	if t.required && t.policy == extension.CPUBindPolicyFullPCPUs && t.count%node.CPUs.CPUsPerCore() != 0 {
		return t, Verdict{Code: finding.CPUsNotWholeCores}
	}
	return t, Verdict{}
}

func demandedPolicy(policy extension.NodeCPUBindPolicy) extension.CPUBindPolicy {
	switch policy {
	case extension.NodeCPUBindPolicyFullPCPUsOnly:
		return extension.CPUBindPolicyFullPCPUs
	case extension.NodeCPUBindPolicySpreadByPCPUs:
		return extension.CPUBindPolicySpreadByPCPUs
	}
	return ""
}

// AlignedBy is the policy by which the pod is aligned on the node; none when the pod passes it without alignment.
func AlignedBy(request *Request, node *Node) extension.NUMATopologyPolicy {
	t, verdict := agree(request, node)
	if !verdict.Passed() {
		return extension.NUMATopologyPolicyNone
	}
	return t.align
}

// Filter says whether the node can give the pod its CPUs and zones, and which zones it would take: the zero Hint when the
// pod is not aligned there. A nil trace records nothing.
func Filter(in Input, trace *Trace) (Hint, Verdict) {
	t, verdict := agree(in.Request, in.Ledger.Node)
	trace.agreed(&in, t)
	if !verdict.Passed() {
		return Hint{}, verdict
	}
	if verdict := in.amplified(t, trace); !verdict.Passed() {
		return Hint{}, verdict
	}
	if t.align != extension.NUMATopologyPolicyNone {
		return in.align(t, trace)
	}
	if !t.bind {
		return Hint{}, Verdict{}
	}
	return Hint{}, in.fits(t, 0, trace)
}

// amplified checks, on a node that shows more cpu than it has, that bound pods find room at their amplified size.
func (in *Input) amplified(t terms, trace *Trace) Verdict {
	ratio := in.Ledger.Node.Ratio
	if ratio <= 1 || in.Request.MilliCPU() == 0 {
		return Verdict{}
	}
	wanted, owned := in.Request.MilliCPU(), int64(in.Ledger.Owned.Len())*1000
	if t.bind {
		wanted = capacity.Amplify(wanted, ratio)
	}
	taken := in.RequestedMilliCPU - owned + capacity.Amplify(owned, ratio)
	trace.amplified(wanted, taken)
	if wanted > in.AllocatableMilliCPU-taken {
		return Verdict{Code: finding.AmplifiedCPUInsufficient}
	}
	return Verdict{}
}

// fits says whether the CPUs can come from a set of zones; the zero Mask is the whole node.
func (in *Input) fits(t terms, mask Mask, trace *Trace) Verdict {
	if mask != 0 && in.Ledger.Node.countable {
		if trace != nil {
			trace.looked(in.Ledger.bindable(mask, t, in.Preferred))
		}
		var count cpuset.Count
		for i := range in.Ledger.Zones {
			if mask.Has(in.Ledger.Zones[i].ID) {
				count = count.Add(in.Ledger.Zones[i].count)
			}
		}
		return shortage(cpuset.CountFits(in.Ledger.Node.CPUs, count, t.count, t.policy, t.required), t.policy)
	}
	free := in.Ledger.bindable(mask, t, in.Preferred)
	trace.looked(free)
	return shortage(cpuset.Fits(in.Ledger.Node.CPUs, free, t.count, t.policy, t.required), t.policy)
}

// couldFit is fits for a node without pods.
func (in *Input) couldFit(t terms, mask Mask) bool {
	node := in.Ledger.Node
	if !node.countable {
		return cpuset.Fits(node.CPUs, node.Usable.Intersection(node.cpusOf(mask)), t.count, t.policy, t.required) == cpuset.Enough
	}
	var count cpuset.Count
	for i := range node.Zones {
		if mask.Has(node.Zones[i].ID) {
			count = count.Add(node.usable[i])
		}
	}
	return cpuset.CountFits(node.CPUs, count, t.count, t.policy, t.required) == cpuset.Enough
}

func shortage(short cpuset.Shortage, policy extension.CPUBindPolicy) Verdict {
	switch short {
	case cpuset.TooFew:
		return Verdict{Code: finding.CPUsExhausted}
	case cpuset.Unbindable:
		return Verdict{Code: finding.CPUBindPolicyUnsatisfied, Policy: policy}
	}
	return Verdict{}
}
