package tui

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	coreamount "koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/scheduling/quota"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/quantity"
	"koordinator.sh/koord/tui/internal/style"
)

// quotaAmounts are the amounts of one resource of a quota; nil where there is none.
type quotaAmounts struct {
	resource                         corev1.ResourceName
	min, max, runtime, used, request *int64
}

func quotaAmountsOf(q *source.Quota, resource corev1.ResourceName) quotaAmounts {
	get := func(amounts quota.Amounts) *int64 {
		if value, ok := amounts.Get(resource); ok {
			return &value
		}
		return nil
	}
	return quotaAmounts{resource: resource, min: get(q.Min), max: get(q.Max), runtime: get(q.Runtime), used: get(q.Used), request: get(q.Request)}
}

func namesOf(amounts quota.Amounts) []corev1.ResourceName {
	out := make([]corev1.ResourceName, len(amounts))
	for i := range amounts {
		out[i] = amounts[i].Resource
	}
	return out
}

// write is an amount of the resource; what is not known is a dash.
func (a *quotaAmounts) write(v *int64) string {
	switch {
	case v == nil:
		return quantity.None
	case *v == quota.Unlimited:
		return "unlimited"
	}
	switch coreamount.UnitOf(a.resource) {
	case diagnostics.MilliCPU:
		return quantity.Cores(*v)
	case diagnostics.Bytes:
		return quantity.Bytes(*v)
	}
	return quantity.Count(*v)
}

// exceeds reports whether both amounts are known and the first is larger.
func exceeds(a, b *int64) bool { return a != nil && b != nil && *a > *b }

// quotaRow is an ElasticQuota with its state over all resources, and the amounts of the one that is shown.
type quotaRow struct {
	*source.Quota
	quotaAmounts
	// at is its place in the tree.
	at    int
	state quotaState
	why   string
}

func quotaRows(all []source.Quota, resource corev1.ResourceName) []quotaRow {
	rows := make([]quotaRow, len(all))
	for i := range all {
		rows[i] = quotaRow{Quota: &all[i], quotaAmounts: quotaAmountsOf(&all[i], resource), at: i}
		rows[i].state, rows[i].why = quotaStateOf(&all[i])
	}
	return rows
}

// quotaState is how a quota fares in one word, the gravest first.
type quotaState int

const (
	quotaInvalid quotaState = iota
	quotaOverused
	quotaWaiting
	quotaUnknown
	quotaBorrows
	quotaLends
	quotaNormal
)

func (s quotaState) word() string {
	return [...]string{"Invalid", "Overused", "Waiting", "Unknown", "Borrows", "Lends", "Normal"}[s]
}

func (s quotaState) mark(st *style.Set) (string, style.Style) {
	switch s {
	case quotaInvalid, quotaOverused:
		return st.Cross, st.Bad
	case quotaWaiting:
		return st.Hot, st.Warn
	case quotaUnknown:
		return st.Unknown, st.Warn
	case quotaBorrows, quotaLends:
		return st.Half, st.Info
	default:
		return st.Good, st.OK
	}
}

// quotaStateOf is the gravest state of a quota's resources, and why it is that.
func quotaStateOf(q *source.Quota) (quotaState, string) {
	if len(q.Problems) > 0 {
		return quotaInvalid, q.Problems[0]
	}
	state, why := quotaNormal, ""
	for _, name := range resourcesOfQuota(q) {
		a := quotaAmountsOf(q, name)
		if s, text := a.state(q.Lends); s < state {
			state, why = s, coreamount.ShortName(name)+": "+text
		}
	}
	if q.Runtime == nil && state > quotaUnknown {
		return quotaUnknown, "koord-scheduler has not published the runtime of this quota"
	}
	return state, why
}

func (a *quotaAmounts) state(lends bool) (quotaState, string) {
	switch {
	case exceeds(a.used, a.runtime):
		return quotaOverused, fmt.Sprintf("used %s exceeds the runtime %s", a.write(a.used), a.write(a.runtime))
	case exceeds(a.request, a.runtime):
		return quotaWaiting, fmt.Sprintf("pods request %s, the runtime is %s", a.write(a.request), a.write(a.runtime))
	case exceeds(a.used, a.min):
		return quotaBorrows, fmt.Sprintf("used %s of which min guarantees %s", a.write(a.used), a.write(a.min))
	case lends && exceeds(a.min, a.runtime):
		return quotaLends, fmt.Sprintf("the runtime is %s of the min %s", a.write(a.runtime), a.write(a.min))
	}
	return quotaNormal, ""
}

// quotaProblem selects quotas for problems-only mode.
func quotaProblem(r *quotaRow) bool { return r.state <= quotaUnknown }

func quotaReason(r *quotaRow, _ int) string { return r.why }
