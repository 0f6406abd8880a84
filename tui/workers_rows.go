package tui

import (
	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/noderesource/workersview"
	"koordinator.sh/koord/tui/internal/style"
)

// workersRow is one of the ElasticWorkers.
type workersRow struct {
	*diagnostics.WorkersExplanation
}

func workersRows(list *diagnostics.WorkersExplanationList) []workersRow {
	if list == nil {
		return nil
	}
	rows := make([]workersRow, len(list.Items))
	for i := range list.Items {
		rows[i] = workersRow{&list.Items[i]}
	}
	return rows
}

func workersKey(r *workersRow) string { return r.Namespace + "/" + r.Name }

// workersProblem selects ElasticWorkers for problems-only mode.
func workersProblem(r *workersRow) bool { return workersview.IsProblem(r.State) }

// workersMark is how a state is marked: a cross where a mistake keeps the target from being sized.
func workersMark(e *diagnostics.WorkersExplanation, st *style.Set) (string, style.Style) {
	switch {
	case e.Code != "":
		return st.Cross, st.Bad
	case e.State == workersview.Stale:
		return st.Late, st.Warn
	case e.State == workersview.Unprocessed:
		return st.Wait, st.Warn
	case e.State == workersview.Suspended:
		return st.Half, st.Dim
	case e.State == workersview.Sized && e.Desired != e.Current:
		return st.Good, st.Info
	case e.State == workersview.Sized:
		return st.Good, st.OK
	}
	return st.Unknown, st.Dim
}
