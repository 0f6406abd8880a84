package tui

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/grid"
	"koordinator.sh/koord/tui/internal/quantity"
	"koordinator.sh/koord/tui/internal/style"
)

const (
	// forecastRounds of the descheduler that are looked at.
	forecastRounds = 10
	// forecastHead is the number of lines above the moves.
	forecastHead = 3
)

// forecast lists what the descheduler would move next.
type forecast struct {
	list[*diagnostics.MigrationForecast, moveRow]
}

// moveRow is a pod that would leave its node, or be relieved of that by a cheaper remedy.
type moveRow struct {
	*diagnostics.ForecastMove
	// remedy instead of the move; nil for a move.
	remedy *diagnostics.ForecastRemedy
}

// forecastScreen lists the moves of the next rounds of koord-descheduler.
func forecastScreen(m *Model) *screen {
	l := &forecast{}
	l.table = newMoveTable()
	l.rows = moveRows
	l.reason = func(r *moveRow, _ int) string { return r.Plugin + ": " + r.Reason }
	l.incomplete = func(f *diagnostics.MigrationForecast) []string { return f.Incomplete }
	l.object = func(r *moveRow) object { return podObject(r.Namespace, r.Name) }
	l.empty = func() (string, []string) {
		return "no pod would move", []string{"koordctl forecast migrations -o wide   lists the pods that stay, and the load of the nodes"}
	}
	return &screen{
		name: forecastName,
		doc:  "The next moves of koord-descheduler: which pods would leave their nodes in the next 10 rounds, where to, and why",
		commands: []command{{name: "forecast", aliases: []string{"moves"}, args: "[/FILTER]", help: "forecast what the descheduler moves",
			run: commandList(forecastName)}},
		keys: []action{
			bind(groupView, true, "enter", "explain pod", (*Model).explainSelected, "enter", "x"),
			bind(groupView, true, "n", "node", l.jump(func(r *moveRow) object { return nodeObject(r.From) }), "n"),
			bind(groupView, true, "t", "target node", l.jump(func(r *moveRow) object { return nodeObject(r.To) }), "t"),
			bind(groupView, true, "m", "migrations", func(m *Model) tea.Cmd { return m.open(migrationsName, object{}) }, "m"),
			describeAction(), yamlAction(),
			sortAction("R", "ROUND", false),
			sortAction("P", "POD", false),
			sortAction("F", "FROM", false),
			sortAction("T", "TO", false),
		},
		ask: func(*page) tea.Cmd {
			src := m.source
			return l.list.ask(m, "forecast", func(ctx context.Context) (*diagnostics.MigrationForecast, error) { return askForecast(ctx, src) })
		},
		content: func(*page) content {
			c := l.list.content()
			c.head, c.headLines = func(width int) []string { return m.forecastHead(l.value, width) }, forecastHead
			return c
		},
	}
}

// moveRows are the remedies of single pods, which come before moves, and the moves.
func moveRows(f *diagnostics.MigrationForecast) []moveRow {
	rows := make([]moveRow, 0, len(f.Moves)+len(f.Remedies))
	for i := range f.Remedies {
		if r := &f.Remedies[i]; r.Name != "" {
			rows = append(rows, moveRow{remedy: r, ForecastMove: &diagnostics.ForecastMove{
				Round: r.Round, Seconds: r.Seconds, Namespace: r.Namespace, Name: r.Name, From: r.Node, Profile: r.Profile, Plugin: r.Remedy, Reason: r.Reason,
			}})
		}
	}
	for i := range f.Moves {
		rows = append(rows, moveRow{ForecastMove: &f.Moves[i]})
	}
	return rows
}

func askForecast(ctx context.Context, src source.Source) (*diagnostics.MigrationForecast, error) {
	forecaster, err := offered[source.MigrationForecaster](src, "forecast migrations")
	if err != nil {
		return nil, err
	}
	return forecaster.ForecastMigrations(ctx, forecastRounds)
}

func (l *forecast) jump(to func(*moveRow) object) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if row := l.table.Selected(); row != nil {
			return m.explainKnown(to(row))
		}
		return nil
	}
}

// forecastHead is the forecast in one sentence, cut to the lines that it has.
func (m *Model) forecastHead(f *diagnostics.MigrationForecast, width int) []string {
	if f == nil {
		return make([]string, forecastHead)
	}
	text := f.Message
	if f.DryRun {
		text += "; dryRun is true: koord-descheduler records evictions and makes none"
	}
	return block(m.headText(text, forecastHead-1, width), rect{h: forecastHead})
}

// headText is a sentence above a table, in some lines at most: cut where it needs more.
func (m *Model) headText(text string, most, width int) []string {
	room := max(width-2, 1)
	lines := m.st.Wrap(m.st.Say(text), room)
	if len(lines) > most {
		lines = append(lines[:most-1], strings.Join(lines[most-1:], " "))
	}
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = " " + m.st.Bold.Render(cell.Truncate(line, room, m.st.Ellipsis))
	}
	return out
}

// newMoveTable is the table of moves. Those without a target are problems.
func newMoveTable() *grid.Table[moveRow] {
	key := func(r *moveRow) string {
		return fmt.Sprintf("%s/%s/%d/%t", r.Namespace, r.Name, r.Round, r.remedy != nil)
	}
	return grid.New(moveColumns(), key, func(r *moveRow) string {
		return strings.Join([]string{r.Namespace + "/" + r.Name, r.From, r.To, r.Plugin, r.Reason}, " ")
	}, func(r *moveRow) bool { return r.To == "" && r.remedy == nil })
}

func moveColumns() []grid.Column[moveRow] {
	type column = grid.Column[moveRow]
	return []column{
		{Title: "ROUND", Width: 6, Right: true, Compare: func(a, b *moveRow) int { return int(a.Round - b.Round) },
			Cell: func(r *moveRow, _ int, st *style.Set) string { return st.Plain.Render(quantity.Count(int64(r.Round))) }},
		{Title: "IN", Width: 5, Right: true, Cell: func(r *moveRow, _ int, st *style.Set) string {
			return st.Plain.Render(quantity.AgeSeconds(r.Seconds))
		}},
		textColumn(column{Title: "POD", Width: 16, Max: 64, Ends: true}, func(r *moveRow) string { return r.Namespace + "/" + r.Name }),
		textColumn(column{Title: "FROM", Width: 8, Max: 40}, func(r *moveRow) string { return r.From }),
		{Title: "TO", Width: 9, Max: 40, Compare: func(a, b *moveRow) int { return strings.Compare(a.To, b.To) },
			Text: moveTarget, Cell: func(r *moveRow, _ int, st *style.Set) string {
				if r.To == "" && r.remedy == nil {
					return st.Dim.Render(moveTarget(r))
				}
				return st.OK.Render(moveTarget(r))
			}},
		textColumn(column{Title: "REASON", Says: true, Width: 20, Max: 80, Drop: 1}, func(r *moveRow) string { return r.Reason }),
		textColumn(column{Title: "PLUGIN", Width: 11, Max: 24, Drop: 2}, func(r *moveRow) string { return r.Plugin }),
		textColumn(column{Title: "USES", Width: 8, Max: 40, Wide: true, Drop: 3}, moveUsage),
		textColumn(column{Title: "ALSO-FITS", Width: 10, Max: 60, Wide: true, Drop: 4}, func(r *moveRow) string { return strings.Join(r.Alternatives, ",") }),
	}
}

// moveTarget is the node that the plugin found to fit; where it looks for none, koord-scheduler chooses. A pod that is not moved has its CPU
// limits there.
func moveTarget(r *moveRow) string {
	switch {
	case r.remedy != nil && r.remedy.BeforeMilliCPU > 0:
		return valueOf(r.remedy.BeforeMilliCPU, diagnostics.MilliCPU) + " -> " + valueOf(r.remedy.AfterMilliCPU, diagnostics.MilliCPU)
	case r.remedy != nil:
		return "<none>"
	case r.To == "":
		return "<scheduler>"
	}
	return cell.Clean(r.To)
}

func moveUsage(r *moveRow) string {
	parts := make([]string, len(r.Usage))
	for i, u := range r.Usage {
		parts[i] = u.Resource + "=" + valueOf(u.Amount, u.Unit)
	}
	return strings.Join(parts, ",")
}
