package quota

// Status is what a quota has, asks for and uses, of the resources that it limits or guarantees.
type Status struct {
	Used, Runtime, Request, ChildRequest      Amounts
	NonPreemptibleUsed, NonPreemptibleRequest Amounts
	// Guaranteed and Allocated are nil unless usage is guaranteed.
	Guaranteed, Allocated Amounts
	// Total of a tree, nil for every quota but the root.
	Total Amounts
}

// Status of a quota. It reports whether the tree has a quota of that name.
func (t *Tree) Status(quota string) (Status, bool) {
	row, found := t.row[quota]
	if !found {
		return Status{}, false
	}
	t.refresh(row)
	var s Status
	for column, key := range t.keys {
		at := t.at(row, column)
		share, sums := &t.shares[at], &t.sums[at]
		if sums.max < 0 && !sums.minSet {
			continue
		}
		add := func(to *Amounts, value int64) { *to = append(*to, Amount{key, value}) }
		add(&s.Used, sums.used.value())
		add(&s.Runtime, share.runtime)
		add(&s.Request, t.request(row, at))
		add(&s.ChildRequest, sums.childRequest.value())
		add(&s.NonPreemptibleUsed, sums.nonPreemptibleUsed.value())
		add(&s.NonPreemptibleRequest, sums.nonPreemptibleRequest.value())
		if t.options.GuaranteeUsage {
			add(&s.Guaranteed, share.guaranteed)
			add(&s.Allocated, sums.allocated.value())
		}
	}
	return s, true
}

// Root is the status of the quota above all of a tree: Total is what there is, Runtime what is left of it for the quotas
// below the root, Request what they ask for, and Used what they and those outside of sharing use.
func (t *Tree) Root() Status {
	var s Status
	for column, key := range t.keys {
		at := t.at(0, column)
		add := func(to *Amounts, value int64) { *to = append(*to, Amount{key, value}) }
		used := t.sums[at].used.value()
		for row := 1; row < len(t.nodes) && t.nodes[row].outside; row++ {
			used = saturatedSum(used, t.sums[t.at(int32(row), column)].used.value())
		}
		add(&s.Total, t.total[column])
		add(&s.Used, used)
		add(&s.Runtime, t.available(0, column))
		add(&s.Request, t.request(0, at))
		add(&s.ChildRequest, t.sums[at].childRequest.value())
		add(&s.NonPreemptibleUsed, t.sums[at].nonPreemptibleUsed.value())
		add(&s.NonPreemptibleRequest, t.sums[at].nonPreemptibleRequest.value())
	}
	return s
}
