package printer

import (
	"io"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	inputs "koordinator.sh/koord/decision/core/unknown"
)

var podColumns = []column{
	{header: "NAME", flexible: 20},
	{header: "QOS"},
	{header: "BAND"},
	{header: "PHASE", wide: true},
	{header: "NODE", flexible: 12, drop: 2},
	{header: "TIER", drop: 3},
	{header: "CPU-REQ", right: true},
	{header: "CPU-LIMIT", right: true, wide: true},
	{header: "CPU-USED", right: true},
	{header: "MEM-REQ", right: true, drop: 1},
	{header: "MEM-LIMIT", right: true, wide: true},
	{header: "MEM-USED", right: true, drop: 1},
	{header: "AGE"},
}

// PodOverviews prints pods as rows: class, band, tier of the request, request against use, and the age of the measurement.
func PodOverviews(w io.Writer, list *diagnosticsv1alpha1.PodOverviewList, o Options) error {
	l := newListing(podColumns, o)
	unread := inputs.Of(list.Unknown).Has(inputs.NodeMetrics)
	for i := range list.Items {
		cells := podCells(&list.Items[i], o)
		if unread {
			cells[len(cells)-1] = painted(Dim, unknown)
		}
		l.add(&list.Items[i], cells...)
	}
	if err := l.render(w); err != nil {
		return err
	}
	return agentContainers(w, list.Agents, o)
}

func podCells(p *diagnosticsv1alpha1.PodOverview, o Options) []cell {
	cpu, memory := diagnosticsv1alpha1.MilliCPU, diagnosticsv1alpha1.Bytes
	return []cell{
		text(p.Name),
		text(orNone(p.QoSClass)),
		bandCell(p.PriorityBand),
		text(string(p.Phase)),
		nodeNameCell(p.NodeName),
		text(orNone(p.CPU.Tier)),
		text(Quantity(p.CPU.Requested, cpu)),
		limitCell(p.CPU.Limit, cpu),
		usedCell(p.CPU, cpu),
		text(Quantity(p.Memory.Requested, memory)),
		limitCell(p.Memory.Limit, memory),
		usedCell(p.Memory, memory),
		text(Age(o.Now, p.ObservedAt)),
	}
}

func bandCell(band string) cell {
	switch band {
	case "":
		return painted(Dim, none)
	case "koord-prod":
		return painted(Prod, band)
	case "koord-mid":
		return painted(Mid, band)
	case "koord-batch":
		return painted(Batch, band)
	default:
		return text(band)
	}
}

func nodeNameCell(name string) cell {
	if name == "" {
		return painted(Warn, "<pending>")
	}
	return text(name)
}

func limitCell(limit *int64, unit diagnosticsv1alpha1.Unit) cell {
	if limit == nil {
		return painted(Dim, "<unset>")
	}
	return text(Quantity(*limit, unit))
}

// usedCell stands out when the pod uses more than it requested.
func usedCell(r diagnosticsv1alpha1.PodResourceOverview, unit diagnosticsv1alpha1.Unit) cell {
	switch {
	case r.Used == nil:
		return painted(Dim, unknown)
	case r.Requested > 0 && *r.Used > r.Requested:
		return painted(Warn, Quantity(*r.Used, unit))
	default:
		return text(Quantity(*r.Used, unit))
	}
}

func orNone(s string) string {
	if s == "" {
		return none
	}
	return s
}
