package tui

import (
	"cmp"
	"strings"
	"time"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/grid"
	"koordinator.sh/koord/tui/internal/quantity"
	"koordinator.sh/koord/tui/internal/style"
)

type workloadColumn = grid.Column[workloadRow]

// newWorkloadTable is the table of workloads. The clock is for the age of what was measured.
func newWorkloadTable(now func() time.Time) *grid.Table[workloadRow] {
	return grid.New(workloadColumns(now), workloadKey, workloadKey, workloadProblem)
}

func workloadColumns(now func() time.Time) []workloadColumn {
	return []workloadColumn{
		{Title: namespaceColumn, Width: 9, Max: 24, Compare: func(a, b *workloadRow) int { return strings.Compare(workloadKey(a), workloadKey(b)) },
			Text: func(r *workloadRow) string { return cell.Clean(r.Namespace) },
			Cell: func(r *workloadRow, _ int, st *style.Set) string { return st.Dim.Render(cell.Clean(r.Namespace)) }},
		{Title: "NAME", Width: 16, Max: 63, Ends: true, Compare: func(a, b *workloadRow) int { return strings.Compare(a.Name, b.Name) },
			Text: func(r *workloadRow) string { return cell.Clean(r.Name) }, Cell: workloadNameCell},
		workloadCount("PODS", func(r *workloadRow) int32 { return r.Pods }, plainStyle),
		workloadCount("WAITING", func(r *workloadRow) int32 { return r.Waiting }, waitingStyle),
		workloadGauge("CPU", 3, workloadCPU),
		workloadUse("CPU-USE", 0, workloadCPU, quantity.Cores),
		workloadAmount(workloadColumn{Title: "CPU-IDLE"}, func(r *workloadRow) *int64 { return r.CPU.Idle }, quantity.Cores, idleStyle),
		workloadAmount(workloadColumn{Title: "CPU-REC", Drop: 4}, func(r *workloadRow) *int64 { return r.CPU.Recommended }, quantity.Cores, plainStyle),
		workloadGauge("MEMORY", 8, workloadMemory),
		workloadUse("MEM-USE", 1, workloadMemory, quantity.Bytes),
		workloadAmount(workloadColumn{Title: "MEM-IDLE", Drop: 5}, func(r *workloadRow) *int64 { return r.Memory.Idle }, quantity.Bytes, plainStyle),
		workloadAmount(workloadColumn{Title: "MEM-REC", Drop: 7, Wide: true}, func(r *workloadRow) *int64 { return r.Memory.Recommended }, quantity.Bytes, plainStyle),
		{Title: "BATCH", Right: true, Width: 6, Drop: 6, Compare: func(a, b *workloadRow) int { return cmp.Compare(batchOf(a), batchOf(b)) },
			Cell: func(r *workloadRow, _ int, st *style.Set) string {
				return st.Plain.Render(quantity.Percent(r.CPU.Batch, r.CPU.Requested))
			}},
		{Title: "MEASURED", Right: true, Width: 9, Drop: 8, Wide: true, Cell: func(r *workloadRow, _ int, st *style.Set) string {
			return st.Dim.Render(quantity.Count(int64(r.Measured)))
		}},
		{Title: "AGE", Right: true, Width: 5, Drop: 2, Cell: func(r *workloadRow, _ int, st *style.Set) string { return sinceCell(r.ObservedAt, now(), st) }},
	}
}

func workloadCPU(r *workloadRow) *diagnostics.WorkloadResource    { return &r.CPU }
func workloadMemory(r *workloadRow) *diagnostics.WorkloadResource { return &r.Memory }

// workloadNameCell is the name with its kind before it, which is less in sight.
func workloadNameCell(r *workloadRow, _ int, st *style.Set) string {
	kind, name, found := strings.Cut(cell.Clean(r.Name), "/")
	if !found {
		return st.Bold.Render(kind)
	}
	return st.Dim.Render(kind+"/") + st.Bold.Render(name)
}

func workloadCount(title string, of func(*workloadRow) int32, in func(*workloadRow, *style.Set) style.Style) workloadColumn {
	return workloadColumn{
		Title: title, Right: true, Compare: func(a, b *workloadRow) int { return cmp.Compare(of(a), of(b)) },
		Text: func(r *workloadRow) string { return quantity.Count(int64(of(r))) },
		Cell: func(r *workloadRow, _ int, st *style.Set) string {
			return in(r, st).Render(quantity.Count(int64(of(r))))
		},
	}
}

// workloadGauge shows what of the requests is used, and is the column by which use is sorted; what was not measured comes first.
func workloadGauge(title string, drop int, of func(*workloadRow) *diagnostics.WorkloadResource) workloadColumn {
	return workloadColumn{
		Title: title, Width: 8, Grow: 2, Max: 30, Drop: drop, DropWide: 9,
		Compare: func(a, b *workloadRow) int { return cmp.Compare(valueOr(of(a).Used, -1), valueOr(of(b).Used, -1)) },
		Cell: func(r *workloadRow, w int, st *style.Set) string {
			band := ""
			if batchOf(r) > 0.5 {
				band = "koord-batch"
			}
			return useGauge(usedOfRequests(of(r)), band, w, st)
		},
	}
}

func workloadUse(title string, drop int, of func(*workloadRow) *diagnostics.WorkloadResource, unit func(int64) string) workloadColumn {
	return workloadColumn{
		Title: title, Right: true, Drop: drop, Text: func(r *workloadRow) string { return useText(usedOfRequests(of(r)), unit) },
		Cell: func(r *workloadRow, _ int, st *style.Set) string { return useCell(usedOfRequests(of(r)), unit, st) },
	}
}

// usedOfRequests is a resource of a workload as one of a pod, which has the same columns.
func usedOfRequests(r *diagnostics.WorkloadResource) diagnostics.PodResourceOverview {
	return diagnostics.PodResourceOverview{Requested: r.Requested, Used: r.Used}
}

// workloadAmount completes a column of amounts that are not known of every workload.
func workloadAmount(c workloadColumn, of func(*workloadRow) *int64, unit func(int64) string, in func(*workloadRow, *style.Set) style.Style) workloadColumn {
	c.Right = true
	c.Compare = func(a, b *workloadRow) int { return cmp.Compare(valueOr(of(a), -1), valueOr(of(b), -1)) }
	c.Text = func(r *workloadRow) string { return known(of(r), unit) }
	c.Cell = func(r *workloadRow, _ int, st *style.Set) string {
		if of(r) == nil {
			return st.Faint.Render(quantity.None)
		}
		return in(r, st).Render(unit(*of(r)))
	}
	return c
}

func plainStyle(_ *workloadRow, st *style.Set) style.Style { return st.Plain }

func waitingStyle(r *workloadRow, st *style.Set) style.Style {
	if r.Waiting > 0 {
		return st.Warn
	}
	return st.Dim
}

func idleStyle(r *workloadRow, st *style.Set) style.Style {
	if mostlyIdle(r) {
		return st.Warn
	}
	return st.Plain
}

// batchOf is the part of the requested CPU that is batch; less than nothing where none is requested.
func batchOf(r *workloadRow) float64 {
	if r.CPU.Requested <= 0 {
		return -1
	}
	return float64(r.CPU.Batch) / float64(r.CPU.Requested)
}
