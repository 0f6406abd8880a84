package numa

import corev1 "k8s.io/api/core/v1"

// Exceeds is true when the node may suit a pod that it did not suit before, whatever its pods hold: it offers more of
// something, or asks for something else.
func (n *Node) Exceeds(before *Node) bool {
	if before == nil || n.Policy != before.Policy || n.BindPolicy != before.BindPolicy || n.Strategy != before.Strategy ||
		n.Ratio != before.Ratio || n.RatioInvalid != before.RatioInvalid || len(n.Zones) != len(before.Zones) || (n.CPUs == nil) != (before.CPUs == nil) {
		return true
	}
	if n.CPUs != nil && (!before.Usable.ContainsAll(n.Usable) || !n.CPUs.CPUs.Equal(before.CPUs.CPUs)) {
		return true
	}
	for i, zone := range n.Zones {
		if zone.ID != before.Zones[i].ID || zone.offersMore(before.Zones[i].Total) {
			return true
		}
	}
	return false
}

func (z Zone) offersMore(before Amounts) bool {
	for name, amount := range z.Total {
		// A resource that is new in the zones is aligned from now on, which can only refuse more.
		if earlier, known := before[name]; known && amount > earlier {
			return true
		}
	}
	for name := range before {
		if _, kept := z.Total[name]; !kept {
			return true
		}
	}
	return false
}

// CouldTake is true when the node would pass Filter if no pod were on it.
func CouldTake(args *Args, node *Node, request *Request, allocatable corev1.ResourceList) bool {
	cpu := allocatable[corev1.ResourceCPU]
	_, verdict := Filter(Input{Args: args, Ledger: NewLedger(node, nil), Request: request, AllocatableMilliCPU: cpu.MilliValue()}, nil)
	return verdict.Passed()
}
