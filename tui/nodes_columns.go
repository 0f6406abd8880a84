package tui

import (
	"cmp"
	"strings"
	"time"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/tui/internal/bar"
	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/grid"
	"koordinator.sh/koord/tui/internal/quantity"
	"koordinator.sh/koord/tui/internal/story"
	"koordinator.sh/koord/tui/internal/style"
)

type nodeColumn = grid.Column[nodeRow]

// newNodeTable is the table of nodes. The clock is for the age of their data.
func newNodeTable(now func() time.Time) *grid.Table[nodeRow] {
	return grid.New(nodeColumns(now), func(r *nodeRow) string { return r.Name },
		func(r *nodeRow) string { return r.Name + " " + r.state.word() }, nodeProblem)
}

func nodeColumns(now func() time.Time) []nodeColumn {
	return []nodeColumn{
		{Title: "NAME", Width: 11, Max: 48, Ends: true, Compare: byNodeName, Text: func(r *nodeRow) string { return cell.Clean(r.Name) },
			Cell: func(r *nodeRow, _ int, st *style.Set) string { return st.Bold.Render(cell.Clean(r.Name)) }},
		{Title: "STATE", Width: 10, Compare: byState, Cell: stateCell},
		{Title: "CPU", Width: 10, Grow: 2, Max: 44, Drop: 1, DropWide: 9, Compare: byUse(cpuOf),
			Cell: func(r *nodeRow, w int, st *style.Set) string { return bar.Draw(r.cpu, w, st) }},
		{Title: "CPU%", Width: 5, Right: true, Cell: func(r *nodeRow, _ int, st *style.Set) string { return shareCell(r.cpu, r.state, st) }},
		{Title: "MEMORY", Width: 10, Grow: 2, Max: 44, Drop: 2, DropWide: 9, Compare: byUse(memoryOf),
			Cell: func(r *nodeRow, w int, st *style.Set) string { return bar.Draw(r.memory, w, st) }},
		{Title: "MEM%", Width: 5, Right: true, Cell: func(r *nodeRow, _ int, st *style.Set) string { return shareCell(r.memory, loadNormal, st) }},
		{Title: "BATCH-CPU", Width: 10, Right: true, Compare: byBatch,
			Cell: func(r *nodeRow, _ int, st *style.Set) string { return offerCell(r.CPU, quantity.Cores, st) }},
		{Title: "BATCH-MEM", Width: 13, Right: true, Drop: 4,
			Cell: func(r *nodeRow, _ int, st *style.Set) string { return offerCell(r.Memory, quantity.Bytes, st) }},
		{Title: "PROD-CPU", Width: 10, Right: true, Drop: 3, Compare: byProd,
			Cell: func(r *nodeRow, _ int, st *style.Set) string { return usedOfCell(r.cpu, quantity.Cores, st) }},
		{Title: "MID-CPU", Width: 9, Right: true, Drop: 6, Wide: true,
			Cell: func(r *nodeRow, _ int, st *style.Set) string { return midCell(r.CPU, st) }},
		{Title: "RECLAIM", Width: 8, Right: true, Drop: 6, Wide: true,
			Cell: func(r *nodeRow, _ int, st *style.Set) string { return optional(r.CPU.Reclaimable, quantity.Cores, st) }},
		{Title: "PODS", Width: 5, Right: true, Drop: 5, Compare: func(a, b *nodeRow) int { return cmp.Compare(podsOn(a), podsOn(b)) },
			Cell: func(r *nodeRow, _ int, st *style.Set) string { return podsCell(r, st) }},
		{Title: "AGE", Width: 6, Right: true, Compare: byAge,
			Cell: func(r *nodeRow, _ int, st *style.Set) string { return ageCell(r.Metric, now(), st) }},
	}
}

func cpuOf(r *nodeRow) *story.Parts    { return &r.cpu }
func memoryOf(r *nodeRow) *story.Parts { return &r.memory }

func byNodeName(a, b *nodeRow) int { return strings.Compare(a.Name, b.Name) }

func byState(a, b *nodeRow) int { return cmp.Compare(b.state, a.state) }

// byUse orders by the used share; what was not measured comes before everything.
func byUse(of func(*nodeRow) *story.Parts) func(a, b *nodeRow) int {
	share := func(r *nodeRow) float64 {
		p := of(r)
		if p.Measured == 0 || p.Capacity == 0 {
			return -1
		}
		return float64(p.Used) / float64(p.Capacity)
	}
	return func(a, b *nodeRow) int { return cmp.Compare(share(a), share(b)) }
}

func byBatch(a, b *nodeRow) int { return cmp.Compare(a.cpu.BatchOffered, b.cpu.BatchOffered) }

// podsOn is the number of pods; -1 where they could not be listed.
func podsOn(r *nodeRow) int32 {
	if r.Pods == nil {
		return -1
	}
	return *r.Pods
}

func podsCell(r *nodeRow, st *style.Set) string {
	if r.Pods == nil {
		return st.Faint.Render(quantity.None)
	}
	return st.Dim.Render(quantity.Count(int64(*r.Pods)))
}

func byProd(a, b *nodeRow) int { return cmp.Compare(a.cpu.ProdRequested, b.cpu.ProdRequested) }

// byAge orders by the age of the data; what has none is oldest.
func byAge(a, b *nodeRow) int {
	switch x, y := a.Metric.UpdateTime, b.Metric.UpdateTime; {
	case x == nil && y == nil:
		return 0
	case x == nil:
		return 1
	case y == nil:
		return -1
	default:
		return y.Compare(x.Time)
	}
}

func stateCell(r *nodeRow, _ int, st *style.Set) string {
	glyph, text := stateMark(r.state, st)
	return text.Render(glyph + " " + r.state.word())
}

func stateMark(s nodeState, st *style.Set) (string, style.Style) {
	switch s {
	case notReady:
		return st.Cross, st.Bad
	case loadHot:
		return st.Hot, st.Bad
	case loadExpired:
		return st.Late, st.Bad
	case metricStale:
		return st.Late, st.Warn
	case cordoned:
		return st.Half, st.Warn
	case loadUnknown:
		return st.Unknown, st.Warn
	default:
		return st.Good, st.OK
	}
}

func shareCell(p story.Parts, s nodeState, st *style.Set) string {
	if p.Measured == 0 {
		return st.Faint.Render(quantity.None)
	}
	text := st.Plain
	if s == loadHot {
		text = st.Bad
	}
	return text.Render(quantity.Percent(p.Used, p.Capacity))
}

// offerCell is what batch pods request of what is offered to them.
func offerCell(r diagnostics.ResourceOverview, unit func(int64) string, st *style.Set) string {
	if r.BatchAllocatable == nil {
		return st.Faint.Render(quantity.None)
	}
	offered, text := *r.BatchAllocatable, st.Plain
	if r.BatchRequested != nil && *r.BatchRequested > offered {
		text = st.Warn
	}
	return text.Render(known(r.BatchRequested, unit)) + st.Dim.Render("/"+unit(offered))
}

func usedOfCell(p story.Parts, unit func(int64) string, st *style.Set) string {
	used := quantity.None
	if p.Measured > 0 {
		used = unit(p.ProdUsed)
	}
	requested := quantity.None
	if p.KnowsRequests() {
		requested = unit(p.ProdRequested)
	}
	return st.Plain.Render(used) + st.Dim.Render("/"+requested)
}

func midCell(r diagnostics.ResourceOverview, st *style.Set) string {
	if r.MidAllocatable == nil {
		return st.Faint.Render(quantity.None)
	}
	return st.Plain.Render(known(r.MidRequested, quantity.Cores)) + st.Dim.Render("/"+quantity.Cores(*r.MidAllocatable))
}

func optional(v *int64, unit func(int64) string, st *style.Set) string {
	if v == nil {
		return st.Faint.Render(quantity.None)
	}
	return st.Plain.Render(unit(*v))
}

func ageCell(metric diagnostics.MetricFacts, now time.Time, st *style.Set) string {
	if metric.State == diagnostics.MetricUnknown && metric.UpdateTime == nil {
		return st.Faint.Render(quantity.None)
	}
	if metric.UpdateTime == nil {
		return st.Warn.Render("<none>")
	}
	text := st.Dim
	switch metric.State {
	case diagnostics.MetricFresh:
		if metric.NotEnforcing != "" {
			text = st.Bad
		}
	case diagnostics.MetricStale, diagnostics.MetricUnknown:
		text = st.Warn
	case diagnostics.MetricExpired, diagnostics.MetricInvalid:
		text = st.Bad
	}
	return text.Render(quantity.AgeOf(now, metric.UpdateTime.Time))
}
