package tui

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/grid"
	"koordinator.sh/koord/tui/internal/quantity"
	"koordinator.sh/koord/tui/internal/style"
)

type migrationColumn = grid.Column[migrationRow]

// mostGates is the number of gates of a job that reserves first; other modes have fewer.
const mostGates = 9

// newMigrationTable is the table of PodMigrationJobs. The clock is for what is left until their deadlines.
func newMigrationTable(now func() time.Time) *grid.Table[migrationRow] {
	return grid.New(migrationColumns(now), func(r *migrationRow) string { return r.Name }, func(r *migrationRow) string {
		return strings.Join([]string{r.Name, r.state.word(), r.Pod.Namespace + "/" + r.Pod.Name, r.Pod.NodeName, r.TargetNode, gateName(r), migrationWhy(r)}, " ")
	}, migrationProblem)
}

func migrationColumns(now func() time.Time) []migrationColumn {
	return []migrationColumn{
		textColumn(migrationColumn{Title: "POD", Width: 12, Max: 56, Ends: true, Compare: byMigrationLife}, migratedName),
		{Title: "STATE", Width: 11, Compare: func(a, b *migrationRow) int { return cmp.Compare(b.state, a.state) }, Cell: migrationStateCell},
		{Title: "GATES", Width: mostGates, Grow: 1, Max: mostGates + len(" 9/9"), Compare: byGates, Cell: gatesCell},
		textColumn(migrationColumn{Title: "GATE", Width: 8, Max: 20, Drop: 5}, gateName),
		textColumn(migrationColumn{Title: "FROM", Width: 6, Max: 40, Drop: 2}, func(r *migrationRow) string { return r.Pod.NodeName }),
		textColumn(migrationColumn{Title: "TO", Width: 6, Max: 40, Drop: 1}, func(r *migrationRow) string { return r.TargetNode }),
		{Title: "SINCE", Width: 6, Right: true, Drop: 4, Compare: func(a, b *migrationRow) int { return byMoment(sinceOf(a), sinceOf(b)) },
			Cell: func(r *migrationRow, _ int, st *style.Set) string { return sinceCell(sinceOf(r), now(), st) }},
		{Title: "LEFT", Width: 5, Right: true, Drop: 3, Compare: func(a, b *migrationRow) int { return byMoment(deadlineOf(a), deadlineOf(b)) },
			Cell: func(r *migrationRow, _ int, st *style.Set) string { return leftCell(deadlineOf(r), now(), st) }},
		textColumn(migrationColumn{Title: "REASON", Says: true, Width: 10, Max: 28, Drop: 6}, migrationWhy),
		// The name of a job that koord-descheduler creates begins with that of its pod.
		textColumn(migrationColumn{Title: "NAME", Width: 8, Max: 48, Ends: true, Drop: 7}, func(r *migrationRow) string { return r.Name }),
		{Title: "MODE", Width: 16, Wide: true, Drop: 9, Cell: func(r *migrationRow, _ int, st *style.Set) string { return st.Dim.Render(cell.Clean(r.Mode)) }},
		{Title: "AGE", Width: 6, Right: true, Wide: true, Drop: 8, Compare: func(a, b *migrationRow) int { return b.CreatedAt.Compare(a.CreatedAt.Time) },
			Cell: func(r *migrationRow, _ int, st *style.Set) string { return sinceCell(&r.CreatedAt, now(), st) }},
	}
}

// translated is what a column says, in the language of the reader if it is a column of messages.
func translated(says bool, st *style.Set, text string) string {
	if says {
		return st.Say(text)
	}
	return text
}

// textColumn completes a column of plain text, by which it can be sorted. A row without the text has a dash.
func textColumn[R any](c grid.Column[R], of func(*R) string) grid.Column[R] {
	text := func(r *R) string {
		if t := cell.Clean(of(r)); t != "" {
			return t
		}
		return quantity.None
	}
	c.Text = text
	c.Cell = func(r *R, _ int, st *style.Set) string {
		if of(r) == "" {
			return st.Faint.Render(quantity.None)
		}
		return st.Plain.Render(cell.Clean(translated(c.Says, st, text(r))))
	}
	if c.Compare == nil {
		c.Compare = func(a, b *R) int { return strings.Compare(of(a), of(b)) }
	}
	return c
}

func migrationStateCell(r *migrationRow, _ int, st *style.Set) string {
	glyph, text := r.state.mark(st)
	return text.Render(glyph + " " + r.state.word())
}

// gatesCell is one cell for each gate, and how many of them are passed where there is room for it.
func gatesCell(r *migrationRow, width int, st *style.Set) string {
	if len(r.Gates) == 0 {
		return st.Faint.Render(quantity.None)
	}
	bar := gatesBar(r.Gates, st)
	if width < mostGates+len(" 9/9") {
		return bar
	}
	count := fmt.Sprintf(" %d/%d", gatesPassed(r.MigrationExplanation), len(r.Gates))
	return bar + st.Plain.Render(cell.Blank(mostGates-len(r.Gates))) + st.Dim.Render(count)
}

// gatesBar draws each gate in one cell: passed, waiting, closed or not reached.
func gatesBar(gates []diagnostics.MigrationGate, st *style.Set) string {
	var b strings.Builder
	for i := range gates {
		switch gates[i].State {
		case diagnostics.MigrationGatePassed:
			st.OK.Write(&b, st.Full)
		case diagnostics.MigrationGateWaiting:
			st.Warn.Write(&b, st.Half)
		case diagnostics.MigrationGateClosed:
			st.Bad.Write(&b, st.Cross)
		default:
			st.Faint.Write(&b, st.Areas.Patterns[style.BatchFree])
		}
	}
	return b.String()
}

// migratedName is the pod of a job, as NAMESPACE/NAME.
func migratedName(r *migrationRow) string { return r.Pod.Namespace + "/" + r.Pod.Name }

func gateName(r *migrationRow) string {
	if gate := gateAt(r.MigrationExplanation); gate != nil {
		return gate.Name
	}
	return ""
}

// migrationWhy is the reason of the gate that holds a job, or of its status.
func migrationWhy(r *migrationRow) string {
	if gate := gateAt(r.MigrationExplanation); gate != nil && (r.Arbitration.Passed || r.Reason == "") {
		return gate.Reason
	}
	return r.Reason
}

// byGates orders by the share of the gates that are passed; jobs that have ended come after all others.
func byGates(a, b *migrationRow) int {
	share := func(r *migrationRow) float64 {
		if len(r.Gates) == 0 {
			return 2
		}
		return float64(gatesPassed(r.MigrationExplanation)) / float64(len(r.Gates))
	}
	return cmp.Compare(share(a), share(b))
}

// sinceOf is since when a job waits at its gate; nil where it does not, and where that is not recorded.
func sinceOf(r *migrationRow) *metav1.Time {
	if gate := gateAt(r.MigrationExplanation); gate != nil {
		return gate.Since
	}
	return nil
}

// deadlineOf is when a job fails; nil for one that has ended.
func deadlineOf(r *migrationRow) *metav1.Time {
	if r.state.ended() {
		return nil
	}
	return &r.Deadline
}

// byMoment orders moments, those that are not known last.
func byMoment(a, b *metav1.Time) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return a.Compare(b.Time)
}

func sinceCell(at *metav1.Time, now time.Time, st *style.Set) string {
	if at == nil || at.IsZero() {
		return st.Faint.Render(quantity.None)
	}
	return st.Dim.Render(quantity.AgeOf(now, at.Time))
}

// leftCell is the time until a deadline, marked when a minute or less is left.
func leftCell(at *metav1.Time, now time.Time, st *style.Set) string {
	if at == nil {
		return st.Faint.Render(quantity.None)
	}
	left, text := at.Sub(now), st.Plain
	if left <= time.Minute {
		text = st.Warn
	}
	return text.Render(quantity.Age(left))
}
