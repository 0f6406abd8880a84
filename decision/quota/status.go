package quota

// Status is what a quota has, asks for and uses, of the resources that it limits or guarantees.
type Status struct {
	Used, Runtime, Request, ChildRequest      Amounts
	NonPreemptibleUsed, NonPreemptibleRequest Amounts
	// Guaranteed and Allocated are nil unless usage is guaranteed.
	Guaranteed, Allocated Amounts
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
