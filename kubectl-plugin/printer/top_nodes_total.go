package printer

import (
	"fmt"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// NodeTotal is the cluster in one line: how much there is, how much of it is used, what is offered to batch, and how
// many nodes are hot or have no trustworthy measurements. Sums of measurements count the measured nodes only, and say so.
func NodeTotal(list *diagnosticsv1alpha1.NodeOverviewList) string {
	var capacity, used, prodRequested, offeredCPU, requested int64
	measured, hot, untrusted := 0, 0, 0
	for i := range list.Items {
		n := &list.Items[i]
		capacity += n.CPU.Capacity
		prodRequested += n.CPU.ProdRequested
		offeredCPU += deref(n.CPU.BatchAllocatable)
		requested += n.CPU.BatchRequested
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
	parts := []string{
		count(len(list.Items), "node"),
		"capacity " + QuantityWithUnit(capacity, diagnosticsv1alpha1.MilliCPU),
	}
	usedText := "used " + Cores(used)
	if measured < len(list.Items) {
		usedText += fmt.Sprintf(" (on %d measured)", measured)
	}
	parts = append(parts, usedText, "requested by prod "+Cores(prodRequested),
		fmt.Sprintf("offered to batch %s, requested %s", Cores(offeredCPU), Cores(requested)))
	if hot > 0 {
		parts = append(parts, fmt.Sprintf("%d hot", hot))
	}
	if untrusted > 0 {
		parts = append(parts, fmt.Sprintf("%d without fresh measurements", untrusted))
	}
	return strings.Join(parts, "; ")
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
