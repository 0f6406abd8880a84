package tui

import (
	"cmp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/tui/internal/bar"
	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/grid"
	"koordinator.sh/koord/tui/internal/quantity"
	"koordinator.sh/koord/tui/internal/style"
)

type podColumn = grid.Column[podRow]

// Columns that others than the table itself name.
const (
	namespaceColumn = "NAMESPACE"
	statusColumn    = "STATUS"
	bandColumn      = "BAND"
	nodeColumnTitle = "NODE"
)

// newPodTable is the table of pods; the pods of one node need no NODE column.
func newPodTable(withNode bool) *grid.Table[podRow] {
	table := grid.New(podColumns(withNode), podKey, func(r *podRow) string {
		return strings.Join([]string{r.Namespace + "/" + r.Name, r.QoSClass, r.PriorityBand, string(r.Phase), r.NodeName}, " ")
	}, podProblem)
	table.SetSpan(reasonSpan)
	return table
}

func podColumns(withNode bool) []podColumn {
	columns := []podColumn{
		{Title: namespaceColumn, Width: 9, Max: 24, Compare: byLife, Text: func(r *podRow) string { return cell.Clean(r.Namespace) },
			Cell: func(r *podRow, _ int, st *style.Set) string { return st.Dim.Render(cell.Clean(r.Namespace)) }},
		{Title: "NAME", Width: 19, Max: 63, Ends: true, Compare: func(a, b *podRow) int { return strings.Compare(a.Name, b.Name) },
			Text: func(r *podRow) string { return cell.Clean(r.Name) },
			Cell: func(r *podRow, _ int, st *style.Set) string { return st.Bold.Render(cell.Clean(r.Name)) }},
		{Title: statusColumn, Width: 9, Compare: func(a, b *podRow) int { return strings.Compare(string(b.Phase), string(a.Phase)) }, Cell: phaseCell},
		{Title: "QOS", Width: 6, Compare: func(a, b *podRow) int { return strings.Compare(a.QoSClass, b.QoSClass) },
			Cell: func(r *podRow, _ int, st *style.Set) string { return st.Plain.Render(cell.Clean(r.QoSClass)) }},
		{Title: bandColumn, Width: 5, Drop: 4, Cell: bandCell},
	}
	if withNode {
		columns = append(columns, podColumn{Title: nodeColumnTitle, Width: 8, Max: 32, Drop: 3, Text: func(r *podRow) string { return cell.Clean(r.NodeName) },
			Compare: func(a, b *podRow) int { return strings.Compare(a.NodeName, b.NodeName) }, Cell: nodeNameCell})
	}
	return append(columns,
		podColumn{Title: "CPU", Width: 5, Grow: 2, Max: 30, Drop: 7, DropWide: 9, Compare: byPodUse(podCPU),
			Cell: func(r *podRow, w int, st *style.Set) string { return useGauge(r.CPU, r.PriorityBand, w, st) }},
		podColumn{Title: "CPU-USE", Right: true, Text: func(r *podRow) string { return useText(r.CPU, quantity.Cores) },
			Cell: func(r *podRow, _ int, st *style.Set) string { return useCell(r.CPU, quantity.Cores, st) }},
		podColumn{Title: "MEMORY", Width: 6, Grow: 2, Max: 30, Drop: 8, DropWide: 9, Compare: byPodUse(podMemory),
			Cell: func(r *podRow, w int, st *style.Set) string { return useGauge(r.Memory, r.PriorityBand, w, st) }},
		podColumn{Title: "MEM-USE", Right: true, Text: func(r *podRow) string { return useText(r.Memory, quantity.Bytes) },
			Cell: func(r *podRow, _ int, st *style.Set) string { return useCell(r.Memory, quantity.Bytes, st) }},
		podColumn{Title: "TIER", Width: 5, Wide: true, Drop: 6,
			Cell: func(r *podRow, _ int, st *style.Set) string { return st.Dim.Render(cell.Clean(r.CPU.Tier)) }},
	)
}

// byLife orders by namespace and name, pods that have finished last: after many jobs they are most of a list.
func byLife(a, b *podRow) int {
	rank := func(r *podRow) int {
		if finished(r.Phase) {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(podKey(a), podKey(b)))
}

func finished(phase corev1.PodPhase) bool {
	return phase == corev1.PodSucceeded || phase == corev1.PodFailed
}

func podCPU(r *podRow) diagnostics.PodResourceOverview    { return r.CPU }
func podMemory(r *podRow) diagnostics.PodResourceOverview { return r.Memory }

// byPodUse orders by use; what was not measured comes first.
func byPodUse(of func(*podRow) diagnostics.PodResourceOverview) func(a, b *podRow) int {
	use := func(r *podRow) int64 {
		if used := of(r).Used; used != nil {
			return *used
		}
		return -1
	}
	return func(a, b *podRow) int { return cmp.Compare(use(a), use(b)) }
}

// bandCell is the priority band without the prefix that all bands share.
func bandCell(r *podRow, _ int, st *style.Set) string {
	band := strings.TrimPrefix(r.PriorityBand, "koord-")
	if band == "" {
		return st.Faint.Render(quantity.None)
	}
	return bandStyle(r.PriorityBand, st).Render(cell.Clean(band))
}

func bandStyle(band string, st *style.Set) style.Style {
	switch band {
	case "koord-prod":
		return st.Info
	case "koord-batch", "koord-free":
		return st.OK
	}
	return st.Plain
}

func phaseCell(r *podRow, _ int, st *style.Set) string {
	_, text := phaseMark(r.Phase, st)
	return text.Render(cell.Clean(string(r.Phase)))
}

func phaseMark(phase corev1.PodPhase, st *style.Set) (string, style.Style) {
	switch phase {
	case corev1.PodPending:
		return st.Wait, st.Warn
	case corev1.PodFailed, corev1.PodUnknown:
		return st.Cross, st.Bad
	}
	return st.Good, st.Dim
}

func nodeNameCell(r *podRow, _ int, st *style.Set) string {
	if r.NodeName == "" {
		return st.Warn.Render("<pending>")
	}
	return st.Plain.Render(cell.Clean(r.NodeName))
}

// useGauge shows use against the request. More than the request fills it in the style of a warning.
func useGauge(r diagnostics.PodResourceOverview, band string, width int, st *style.Set) string {
	if r.Used == nil || r.Requested <= 0 {
		return st.Faint.Render(strings.Repeat(st.Limit, width))
	}
	fill := bandStyle(band, st)
	if *r.Used > r.Requested {
		fill = st.Warn
	}
	return bar.Gauge(*r.Used, r.Requested, width, fill, st.Faint, st)
}

func useCell(r diagnostics.PodResourceOverview, unit func(int64) string, st *style.Set) string {
	used, requested, _ := strings.Cut(useText(r, unit), "/")
	return st.Plain.Render(used) + st.Dim.Render("/"+requested)
}

// useText is use/request.
func useText(r diagnostics.PodResourceOverview, unit func(int64) string) string {
	return known(r.Used, unit) + "/" + unit(r.Requested)
}
