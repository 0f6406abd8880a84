package printer

import (
	"fmt"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/phrase"
	inputs "koordinator.sh/koord/decision/core/unknown"
)

// NodeTotal is the cluster in one line: how much there is, how much of it is used, what is offered to batch, and how
// many nodes are hot or have no trustworthy measurements. Sums of measurements count the measured nodes only, and say so. What
// could not be read is not summed up.
func NodeTotal(list *diagnosticsv1alpha1.NodeOverviewList) string {
	var capacity, used, offeredCPU int64
	prodRequested, batchRequested := new(int64), new(int64)
	measured, hot, untrusted := 0, 0, 0
	for i := range list.Items {
		n := &list.Items[i]
		capacity += n.CPU.Capacity
		prodRequested = add(prodRequested, n.CPU.ProdRequested)
		offeredCPU += deref(n.CPU.BatchAllocatable)
		batchRequested = add(batchRequested, n.CPU.BatchRequested)
		if n.CPU.Used != nil {
			measured++
			used += *n.CPU.Used
		}
		if n.Load.State == diagnosticsv1alpha1.LoadHot {
			hot++
		}
		if n.Metric.State != diagnosticsv1alpha1.MetricFresh {
			untrusted++
		}
	}
	unread := inputs.Of(list.Unknown).Has(inputs.NodeMetrics)
	usedText := "used " + Cores(used)
	switch {
	case unread || measured == 0:
		usedText = "used " + unknown
	case measured < len(list.Items):
		usedText += fmt.Sprintf(" (on %d measured)", measured)
	}
	parts := []string{
		phrase.Counted(len(list.Items), "node"), "capacity " + QuantityWithUnit(capacity, diagnosticsv1alpha1.MilliCPU), usedText,
		"requested by prod " + coresOrUnknown(prodRequested),
		fmt.Sprintf("offered to batch %s, requested %s", Cores(offeredCPU), coresOrUnknown(batchRequested)),
	}
	if hot > 0 {
		parts = append(parts, fmt.Sprintf("%d hot", hot))
	}
	if untrusted > 0 && !unread {
		parts = append(parts, fmt.Sprintf("%d without fresh measurements", untrusted))
	}
	return strings.Join(parts, "; ")
}

// add adds a value to a sum; a sum with a part that is not known is not known.
func add(total, part *int64) *int64 {
	if total == nil || part == nil {
		return nil
	}
	return new(*total + *part)
}

func coresOrUnknown(value *int64) string {
	if value == nil {
		return unknown
	}
	return Cores(*value)
}
