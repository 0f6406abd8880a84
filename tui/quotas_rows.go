package tui

import (
	corev1 "k8s.io/api/core/v1"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	coreamount "koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/scheduling/quota"
	"koordinator.sh/koord/decision/scheduling/quotaview"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/quantity"
	"koordinator.sh/koord/tui/internal/style"
)

// quotaAmounts are the amounts of one resource of a quota.
type quotaAmounts quotaview.Amounts

// write is an amount of the resource; what is not known is a dash.
func (a *quotaAmounts) write(v *int64) string {
	switch {
	case v == nil:
		return quantity.None
	case *v == quota.Unlimited:
		return "unlimited"
	}
	switch coreamount.UnitOf(a.Resource) {
	case diagnostics.MilliCPU:
		return quantity.Cores(*v)
	case diagnostics.Bytes:
		return quantity.Bytes(*v)
	}
	return quantity.Count(*v)
}

// numbers are the amounts in the order of the columns of a quota's table.
func (a *quotaAmounts) numbers() []string {
	amounts := []*int64{a.Used, a.Runtime, a.Request, a.Min, a.Max}
	out := make([]string, len(amounts))
	for i, v := range amounts {
		out[i] = a.write(v)
	}
	return out
}

// quotaRow is an ElasticQuota with its state over all resources, and the amounts of the one that is shown.
type quotaRow struct {
	*source.Quota
	amounts quotaAmounts
	// at is its place in the tree.
	at    int
	state quotaState
	why   string
}

func quotaRows(all []source.Quota, resource corev1.ResourceName) []quotaRow {
	rows := make([]quotaRow, len(all))
	for i := range all {
		rows[i] = quotaRow{Quota: &all[i], amounts: quotaAmounts(quotaview.AmountsOf(&all[i], resource)), at: i}
		rows[i].state, rows[i].why = stateOfQuota(&all[i])
	}
	return rows
}

// quotaState is how a quota fares in one word.
type quotaState diagnostics.QuotaState

func stateOfQuota(q *source.Quota) (quotaState, string) {
	state, why := quotaview.StateOf(q)
	return quotaState(state), why
}

func (s quotaState) word() string { return string(s) }

// rank is lower the graver the state is.
func (s quotaState) rank() int { return quotaview.Rank(diagnostics.QuotaState(s)) }

func (s quotaState) mark(st *style.Set) (string, style.Style) {
	switch diagnostics.QuotaState(s) {
	case diagnostics.QuotaInvalid, diagnostics.QuotaOverused:
		return st.Cross, st.Bad
	case diagnostics.QuotaWaiting:
		return st.Hot, st.Warn
	case diagnostics.QuotaUnknown:
		return st.Unknown, st.Warn
	case diagnostics.QuotaBorrows, diagnostics.QuotaLends:
		return st.Half, st.Info
	default:
		return st.Good, st.OK
	}
}

// quotaProblem selects quotas for problems-only mode.
func quotaProblem(r *quotaRow) bool { return quotaview.IsProblem(diagnostics.QuotaState(r.state)) }

func quotaReason(r *quotaRow, _ int) string { return r.why }
