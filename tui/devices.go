package tui

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/cell"
)

// devices lists the nodes that have devices, one type of them at a time.
type devices struct {
	list[*diagnostics.DeviceOverviewList, deviceRow]
	// kind of devices that is shown; empty for the first that a node has.
	kind string
}

// devicesScreen lists where devices are free, and who holds them.
func devicesScreen(m *Model) *screen {
	l := &devices{}
	l.table, l.reason = newDeviceTable(), func(r *deviceRow, _ int) string { return r.Reason }
	l.rows = func(all *diagnostics.DeviceOverviewList) []deviceRow { return deviceRows(all, l.shownKind(all)) }
	l.incomplete = func(a *diagnostics.DeviceOverviewList) []string { return a.Incomplete }
	l.object = func(r *deviceRow) object { return deviceObject(r.node) }
	l.empty = func() (string, []string) {
		return "no Devices in this cluster", []string{"koordlet reports the GPUs, network cards and FPGAs of a node in a Device"}
	}
	m.deviceNames = func() []string {
		var out []string
		for _, r := range l.table.Rows() {
			out = append(out, r.node)
		}
		return out
	}
	return &screen{
		name: devicesName,
		doc:  "The GPUs, network cards and FPGAs of the nodes: what is free, whole or in pieces, the largest request that fits, and how many hold them",
		commands: []command{{name: "devices", aliases: []string{"dev", "gpus"}, args: "[/FILTER]", help: "list Devices",
			run: commandList(devicesName)}},
		keys: []action{
			bind(groupView, true, "enter", "each device", (*Model).explainSelected, "enter", "x"),
			bind(groupView, true, "tab", "next type", l.turn(1), "tab", "right", "l"),
			bind(groupView, false, "shift-tab", "previous type", l.turn(-1), "shift+tab", "left", "h"),
			bind(groupView, true, "n", "node", func(m *Model) tea.Cmd {
				if row := l.table.Selected(); row != nil {
					return m.explainKnown(nodeObject(row.node))
				}
				return nil
			}, "n"),
			whatIfAction(), describeAction(), yamlAction(),
			sortAction("N", "NAME", false),
			sortAction("S", "STATE", true),
			sortAction("F", "FREE", true),
			sortAction("L", "LARGEST", true),
		},
		title: func(*page) string {
			if kind := l.shownKind(l.value); kind != "" {
				return "devices(" + cell.Clean(kind) + ")"
			}
			return "devices"
		},
		ask: func(*page) tea.Cmd {
			src := m.source
			return l.list.ask(m, "devices", func(ctx context.Context) (*diagnostics.DeviceOverviewList, error) { return askDevices(ctx, src) })
		},
		content: func(*page) content { return l.list.content() },
	}
}

func deviceObject(node string) object { return object{kind: source.KindDevice, name: node} }

func askDevices(ctx context.Context, src source.Source, names ...string) (*diagnostics.DeviceOverviewList, error) {
	viewer, err := offered[source.DeviceViewer](src, "list Devices")
	if err != nil {
		return nil, err
	}
	return viewer.DeviceOverviews(ctx, source.DeviceQuery{Names: names})
}

// shownKind is the type of the table: the one chosen, or the first where no node has that.
func (l *devices) shownKind(all *diagnostics.DeviceOverviewList) string {
	kinds := deviceKinds(all)
	if len(kinds) == 0 || slices.Contains(kinds, l.kind) {
		return l.kind
	}
	return kinds[0]
}

// turn shows another type.
func (l *devices) turn(by int) func(*Model) tea.Cmd {
	return func(*Model) tea.Cmd {
		if kinds := deviceKinds(l.value); len(kinds) > 0 {
			at := slices.Index(kinds, l.shownKind(l.value))
			l.kind = kinds[(at+by+len(kinds))%len(kinds)]
			l.table.SetRows(l.rows(l.value))
		}
		return nil
	}
}
