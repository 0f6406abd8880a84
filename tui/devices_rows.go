package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/deviceview"
	"koordinator.sh/koord/tui/internal/bar"
	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/grid"
	"koordinator.sh/koord/tui/internal/quantity"
	"koordinator.sh/koord/tui/internal/style"
)

// deviceRow is the devices of one type on a node.
type deviceRow struct {
	*diagnostics.DeviceTypeOverview
	node string
}

// deviceKinds are the types of devices that nodes have, in the order of the first node that has them.
func deviceKinds(all *diagnostics.DeviceOverviewList) []string {
	if all == nil {
		return nil
	}
	var out []string
	for i := range all.Items {
		for _, t := range all.Items[i].Types {
			if !slices.Contains(out, t.Type) {
				out = append(out, t.Type)
			}
		}
	}
	return out
}

func deviceRows(all *diagnostics.DeviceOverviewList, kind string) []deviceRow {
	if all == nil {
		return nil
	}
	var rows []deviceRow
	for i := range all.Items {
		for j := range all.Items[i].Types {
			if t := &all.Items[i].Types[j]; t.Type == kind {
				rows = append(rows, deviceRow{t, all.Items[i].Name})
			}
		}
	}
	return rows
}

// deviceProblem selects rows for problems-only mode.
func deviceProblem(r *deviceRow) bool { return deviceview.IsProblem(r.State) }

func deviceMark(state diagnostics.DeviceState, st *style.Set) (string, style.Style) {
	switch state {
	case diagnostics.DeviceOverheld, diagnostics.DeviceStray:
		return st.Cross, st.Bad
	case diagnostics.DeviceUnhealthy:
		return st.Hot, st.Warn
	case diagnostics.DeviceUnknown:
		return st.Unknown, st.Warn
	case diagnostics.DeviceFull:
		return st.Half, st.Info
	case diagnostics.DeviceUnmanaged:
		return st.Unknown, st.Dim
	default:
		return st.Good, st.OK
	}
}

type deviceColumn = grid.Column[deviceRow]

// newDeviceTable is the table of nodes with devices of one type.
func newDeviceTable() *grid.Table[deviceRow] {
	return grid.New(deviceColumns(), func(r *deviceRow) string { return r.node }, func(r *deviceRow) string {
		return strings.Join([]string{r.node, string(r.State), r.Model, r.Reason}, " ")
	}, deviceProblem)
}

func deviceColumns() []deviceColumn {
	number := func(title string, drop int, of func(*deviceRow) *int64, write func(int64) string) deviceColumn {
		return deviceColumn{
			Title: title, Width: len(title) + 1, Right: true, Drop: drop,
			Compare: func(a, b *deviceRow) int { return cmp.Compare(valueOr(of(a), -1), valueOr(of(b), -1)) },
			Cell: func(r *deviceRow, _ int, st *style.Set) string {
				if v := of(r); v != nil {
					return st.Plain.Render(write(*v))
				}
				return st.Faint.Render(quantity.None)
			},
		}
	}
	return []deviceColumn{
		textColumn(deviceColumn{Title: "NAME", Width: 12, Max: 48, Ends: true}, func(r *deviceRow) string { return r.node }),
		{Title: "STATE", Width: 11, Compare: func(a, b *deviceRow) int { return cmp.Compare(deviceview.Rank(b.State), deviceview.Rank(a.State)) },
			Cell: func(r *deviceRow, _ int, st *style.Set) string {
				glyph, text := deviceMark(r.State, st)
				return text.Render(glyph + " " + string(r.State))
			}},
		{Title: "USE", Width: 10, Grow: 1, Max: 40, Drop: 2, Cell: deviceGauge},
		{Title: "HEALTHY", Width: 8, Right: true, Drop: 1, Cell: func(r *deviceRow, _ int, st *style.Set) string {
			text := st.Plain
			if r.Healthy < r.Devices {
				text = st.Warn
			}
			return text.Render(fmt.Sprintf("%d/%d", r.Healthy, r.Devices))
		}},
		number("FREE", 0, func(r *deviceRow) *int64 { return r.FreePercent }, deviceCount),
		number("WHOLE", 0, func(r *deviceRow) *int64 { return wide(r.IdleDevices) }, quantity.Count),
		number("LARGEST", 0, func(r *deviceRow) *int64 { return deviceview.Largest(r.DeviceTypeOverview) }, func(v int64) string {
			if v > 0 && v < 100 {
				return fmt.Sprintf("%d%%", v)
			}
			return quantity.Count(v / 100)
		}),
		number("HOLDERS", 3, func(r *deviceRow) *int64 {
			if r.FreePercent == nil {
				return nil
			}
			return new(int64(r.Holders))
		}, quantity.Count),
		textColumn(deviceColumn{Title: "MODEL", Width: 6, Max: 24, Drop: 4}, func(r *deviceRow) string { return r.Model }),
	}
}

// deviceCount writes a number of devices of which 100 is one.
func deviceCount(percent int64) string { return quantity.Cores(10 * percent) }

// deviceGauge shows what is held of the healthy devices.
func deviceGauge(r *deviceRow, width int, st *style.Set) string {
	if r.FreePercent == nil || r.Healthy == 0 {
		return st.Faint.Render(strings.Repeat(st.Limit, width))
	}
	whole := 100 * int64(r.Healthy)
	return bar.Gauge(max(whole-*r.FreePercent, 0), whole, width, st.OK, st.Faint, st)
}

// holderOf is a pod that holds a device of a node; a pod without a name where none does.
func holderOf(o *diagnostics.DeviceOverview) object {
	for i := range o.Types {
		for j := range o.Types[i].Minors {
			for _, h := range o.Types[i].Minors[j].Holders {
				if h.Namespace != "" {
					return podObject(h.Namespace, h.Name)
				}
			}
		}
	}
	return podObject("", "")
}

// deviceFacts are the types of a node in a line each.
func (m *Model) deviceFacts(o *diagnostics.DeviceOverview, width int) []string {
	st := m.st
	var lines []string
	for i := range o.Types {
		t := &o.Types[i]
		glyph, text := deviceMark(t.State, st)
		line := "  " + st.Bold.Render(cell.Left(cell.Clean(t.Type), 6, st.Ellipsis)) + text.Render(glyph+" "+string(t.State))
		counts := fmt.Sprintf("%d of %d healthy", t.Healthy, t.Devices)
		if t.FreePercent != nil {
			counts = fmt.Sprintf("%d of %d healthy, %s free, of them %d whole", t.Healthy, t.Devices, deviceCount(*t.FreePercent), *t.IdleDevices)
		}
		lines = append(lines, cell.Truncate(line+st.Plain.Render("  "+st.Say(counts)), width, st.Ellipsis))
		if t.Reason != "" {
			lines = append(lines, m.sentence(t.Reason, width)...)
		}
	}
	return lines
}
