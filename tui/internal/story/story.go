// Package story turns what is known of a node's resource into the areas of the co-location story, and adds nodes up.
package story

import (
	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/tui/internal/style"
)

// Areas is the number of areas a sample of history keeps: all but the rest.
const Areas = int(style.Rest)

// BarOrder is the order of a bar: what is used, then what is offered, then the rest.
var BarOrder = []style.Area{style.ProdUsed, style.Mid, style.BatchUsed, style.System, style.BatchFree}

// ChartOrder is the order of the chart, from below.
var ChartOrder = []style.Area{style.ProdUsed, style.ProdReserved, style.Mid, style.BatchUsed, style.BatchFree, style.System}

// Parts is one resource of a node or of a whole cluster, in milliCPU or bytes.
type Parts struct {
	Capacity, Allocatable, Used             int64
	ProdRequested, ProdUsed, Reclaimable    int64
	BatchOffered, BatchRequested, BatchUsed int64
	MidOffered, MidRequested                int64
	Area                                    [Areas]int64
	// Nodes that were added up, how many of them have a trustworthy measurement, and of how many the pods were listed. What
	// is used is not known where nothing was measured, and what is requested where pods were not listed.
	Nodes, Measured, Listed int
}

// KnowsRequests says whether the pods of all nodes were listed.
func (p Parts) KnowsRequests() bool { return p.Listed == p.Nodes }

// areaOf says which area a share of the command line's bars is, so that both show the same figures.
var areaOf = map[printer.Role]style.Area{
	printer.Prod: style.ProdUsed, printer.ProdReserved: style.ProdReserved, printer.Mid: style.Mid,
	printer.Batch: style.BatchUsed, printer.BatchFree: style.BatchFree, printer.System: style.System,
}

// Of returns the parts of one node's resource.
func Of(r diagnostics.ResourceOverview) Parts {
	p := Parts{
		Capacity: r.Capacity, Allocatable: r.Allocatable, Used: value(r.Used),
		ProdRequested: value(r.ProdRequested), Reclaimable: value(r.Reclaimable),
		BatchOffered: value(r.BatchAllocatable), BatchRequested: value(r.BatchRequested),
		MidOffered: value(r.MidAllocatable), MidRequested: value(r.MidRequested),
		ProdUsed: value(r.ProdUsed), BatchUsed: value(r.BatchUsed), Nodes: 1,
	}
	for _, share := range printer.Shares(r) {
		if area, ok := areaOf[share.Role]; ok {
			p.Area[area] = share.Value
		}
	}
	if r.Used != nil && r.ProdUsed != nil {
		p.Measured = 1
	}
	if r.ProdRequested != nil {
		p.Listed = 1
	}
	return p
}

// Before returns the parts of a node's resource at an earlier time, of which what was used is known alone.
func Before(capacity int64, used diagnostics.UsageParts) Parts {
	p := Parts{Capacity: capacity, Used: used.Used, ProdUsed: used.ProdUsed, BatchUsed: used.BatchUsed, Nodes: 1, Measured: 1}
	left := max(capacity, 0)
	for _, share := range []struct {
		area style.Area
		used int64
	}{{style.System, used.SystemUsed}, {style.ProdUsed, used.ProdUsed}, {style.Mid, used.MidUsed}, {style.BatchUsed, used.BatchUsed}} {
		p.Area[share.area] = min(max(share.used, 0), left)
		left -= p.Area[share.area]
	}
	return p
}

func value(v *int64) int64 {
	if v == nil {
		return 0
	}
	return max(*v, 0)
}

// Add returns the parts of both together.
func (p Parts) Add(q Parts) Parts {
	p.Capacity += q.Capacity
	p.Allocatable += q.Allocatable
	p.Used += q.Used
	p.ProdRequested += q.ProdRequested
	p.Reclaimable += q.Reclaimable
	p.ProdUsed += q.ProdUsed
	p.BatchUsed += q.BatchUsed
	p.BatchOffered += q.BatchOffered
	p.BatchRequested += q.BatchRequested
	p.MidOffered += q.MidOffered
	p.MidRequested += q.MidRequested
	for i := range p.Area {
		p.Area[i] += q.Area[i]
	}
	p.Nodes += q.Nodes
	p.Measured += q.Measured
	p.Listed += q.Listed
	return p
}

// Values are the areas in the given order.
func (p Parts) Values(order []style.Area) []int64 {
	out := make([]int64, len(order))
	for i, area := range order {
		out[i] = p.Area[area]
	}
	return out
}
