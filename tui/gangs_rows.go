package tui

import (
	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/gangview"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/style"
)

// gangRow is a gang with its state.
type gangRow struct {
	*source.Gang
	state gangState
	why   string
}

func gangRows(list *source.Gangs) []gangRow {
	if list == nil {
		return nil
	}
	rows := make([]gangRow, len(list.Items))
	for i := range list.Items {
		rows[i].Gang = &list.Items[i]
		rows[i].state, rows[i].why = stateOfGang(&list.Items[i])
	}
	return rows
}

func gangKey(r *gangRow) string { return r.Namespace + "/" + r.Name }

// gangState is how a gang fares in one word.
type gangState diagnostics.GangState

func stateOfGang(g *source.Gang) (gangState, string) {
	state, why := gangview.StateOf(g)
	return gangState(state), why
}

func (s gangState) word() string { return string(s) }

// rank is lower the graver the state is.
func (s gangState) rank() int { return gangview.Rank(diagnostics.GangState(s)) }

func (s gangState) mark(st *style.Set) (string, style.Style) {
	switch diagnostics.GangState(s) {
	case diagnostics.GangInvalid, diagnostics.GangFailed:
		return st.Cross, st.Bad
	case diagnostics.GangBlocked:
		return st.Hot, st.Bad
	case diagnostics.GangShort:
		return st.Half, st.Warn
	case diagnostics.GangScheduling, diagnostics.GangScheduled:
		return st.Good, st.Info
	case diagnostics.GangRunning:
		return st.Good, st.OK
	default:
		return st.Check, st.OK
	}
}

// gangProblem selects gangs for problems-only mode.
func gangProblem(r *gangRow) bool { return gangview.IsProblem(diagnostics.GangState(r.state)) }
