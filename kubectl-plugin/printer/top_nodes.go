package printer

import (
	"fmt"
	"io"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

const (
	shareBarWidth = 24
	// shareColumn is the column of the bars.
	shareColumn = "CPU-SHARE"
)

// nodeColumns of `top nodes`. Without -o wide they fit 80 columns: pairs of part/whole, where CPU-USED and MEM-USED are
// used/allocatable, PROD-CPU used/requested, MID-CPU and BATCH-* requested/offered.
var nodeColumns = []column{
	{header: "NAME", flexible: 20},
	{header: "STATUS", wide: true},
	{header: "LOAD"},
	{header: "BALANCE", wide: true},
	{header: "PODS", right: true, wide: true},
	{header: "CPU-USED", right: true},
	{header: "SYS-CPU", right: true, wide: true},
	{header: "PROD-CPU", right: true},
	{header: "MID-CPU", right: true, drop: 3},
	{header: "BATCH-CPU", right: true},
	{header: "BATCH-CPU-USED", right: true, wide: true},
	{header: "FREE-CPU", right: true, wide: true},
	{header: "RECLAIM-CPU", right: true, wide: true},
	{header: "MEM-USED", right: true, drop: 1},
	{header: "SYS-MEM", right: true, wide: true},
	{header: "PROD-MEM", right: true, wide: true},
	{header: "MID-MEM", right: true, wide: true},
	{header: "BATCH-MEM", right: true, drop: 2},
	{header: "BATCH-MEM-USED", right: true, wide: true},
	{header: "FREE-MEM", right: true, wide: true},
	{header: "RECLAIM-MEM", right: true, wide: true},
	{header: shareColumn, drop: 4, terminal: true},
	{header: "AGE"},
}

// NodeOverviews prints nodes as rows. On a terminal with room for it each row has a bar of the areas of its CPU.
func NodeOverviews(w io.Writer, list *diagnosticsv1alpha1.NodeOverviewList, o Options) error {
	o.WithNamespace = false
	l := newListing(nodeColumns, o)
	for i := range list.Items {
		l.add(&list.Items[i], nodeCells(&list.Items[i], o)...)
	}
	return l.render(w)
}

// usable is what of a resource can be used: use is physical, and amplification only shows more than there is.
func usable(r *diagnosticsv1alpha1.ResourceOverview) *int64 {
	if r.RawAllocatable != nil {
		return r.RawAllocatable
	}
	return &r.Allocatable
}

func nodeCells(n *diagnosticsv1alpha1.NodeOverview, o Options) []cell {
	cpu, memory := diagnosticsv1alpha1.MilliCPU, diagnosticsv1alpha1.Bytes
	c, m := n.CPU, n.Memory
	return []cell{
		text(n.Name),
		nodeStatus(n),
		loadCell(n.Load.State),
		balanceCell(n.Balance),
		text(optional(wide(n.Pods), diagnosticsv1alpha1.Count)),
		text(Pair(c.Used, usable(&c), cpu)),
		text(optional(c.SystemUsed, cpu)),
		text(Pair(c.ProdUsed, c.ProdRequested, cpu)),
		offered(c.MidRequested, c.MidAllocatable, cpu),
		offered(c.BatchRequested, c.BatchAllocatable, cpu),
		text(optional(c.BatchUsed, cpu)),
		text(optional(c.FreeUsed, cpu)),
		text(optional(c.Reclaimable, cpu)),
		text(Pair(m.Used, usable(&m), memory)),
		text(optional(m.SystemUsed, memory)),
		text(Pair(m.ProdUsed, m.ProdRequested, memory)),
		offered(m.MidRequested, m.MidAllocatable, memory),
		offered(m.BatchRequested, m.BatchAllocatable, memory),
		text(optional(m.BatchUsed, memory)),
		text(optional(m.FreeUsed, memory)),
		text(optional(m.Reclaimable, memory)),
		shareBarCell(c, o),
		metricAge(n.Metric, o),
	}
}

// shareBarCell is the bar, which only a terminal shows.
func shareBarCell(c diagnosticsv1alpha1.ResourceOverview, o Options) cell {
	if o.Width == 0 {
		return text("")
	}
	return styled(ShareBar(c, shareBarWidth, o.Style))
}

// offered formats requested/offered. A resource that is neither offered nor requested is <none>; one that is requested
// beyond what is offered stands out. What is requested is a question mark when the pods could not be listed.
func offered(requested, allocatable *int64, unit diagnosticsv1alpha1.Unit) cell {
	switch {
	case requested == nil:
		return text(Pair(nil, new(deref(allocatable)), unit))
	case allocatable == nil && *requested == 0:
		return painted(Dim, none)
	case *requested > deref(allocatable):
		return painted(Warn, Pair(requested, new(deref(allocatable)), unit))
	default:
		return text(Pair(requested, allocatable, unit))
	}
}

// wide is a count as other quantities are.
func wide(n *int32) *int64 {
	if n == nil {
		return nil
	}
	return new(int64(*n))
}

func nodeStatus(n *diagnosticsv1alpha1.NodeOverview) cell {
	switch {
	case !n.Ready && n.Unschedulable:
		return painted(Bad, "NotReady,SchedulingDisabled")
	case !n.Ready:
		return painted(Bad, "NotReady")
	case n.Unschedulable:
		return painted(Warn, "Ready,SchedulingDisabled")
	default:
		return text("Ready")
	}
}

func loadCell(state diagnosticsv1alpha1.LoadState) cell {
	switch state {
	case diagnosticsv1alpha1.LoadNormal:
		return painted(Good, string(state))
	case diagnosticsv1alpha1.LoadHot:
		return painted(Bad, string(state))
	case "":
		return painted(Dim, unknown)
	default:
		return painted(Warn, string(state))
	}
}

func balanceCell(balance *diagnosticsv1alpha1.BalanceOverview) cell {
	if balance == nil {
		return painted(Dim, none)
	}
	switch balance.State {
	case diagnosticsv1alpha1.BalanceNormal, diagnosticsv1alpha1.BalanceUnderutilized:
		return painted(Good, string(balance.State))
	case diagnosticsv1alpha1.BalanceOverutilized:
		return painted(Bad, string(balance.State))
	default:
		return painted(Warn, string(balance.State))
	}
}

// metricAge is the age of the measurements, with their state unless it is Fresh: 42s, 20m(Expired). An agent that does not enforce
// is shown as such where the measurements are good enough: 42s(NotEnforcing).
func metricAge(m diagnosticsv1alpha1.MetricFacts, o Options) cell {
	age := Age(o.Now, m.UpdateTime)
	if m.NotEnforcing != "" && (m.State == diagnosticsv1alpha1.MetricFresh || m.State == diagnosticsv1alpha1.MetricStale) {
		return painted(Bad, age+"(NotEnforcing)")
	}
	switch m.State {
	case diagnosticsv1alpha1.MetricFresh, "":
		return text(age)
	case diagnosticsv1alpha1.MetricAbsent:
		return painted(Warn, none)
	case diagnosticsv1alpha1.MetricUnknown:
		if m.UpdateTime == nil {
			return painted(Warn, unknown)
		}
		return painted(Warn, fmt.Sprintf("%s(%s)", age, m.State))
	case diagnosticsv1alpha1.MetricStale:
		return painted(Warn, fmt.Sprintf("%s(%s)", age, m.State))
	default:
		return painted(Bad, fmt.Sprintf("%s(%s)", age, m.State))
	}
}
