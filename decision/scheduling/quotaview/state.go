package quotaview

import (
	"fmt"
	"slices"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/amount"
)

// states in the order of their gravity.
var states = []diagnosticsv1alpha1.QuotaState{
	diagnosticsv1alpha1.QuotaInvalid, diagnosticsv1alpha1.QuotaOverused, diagnosticsv1alpha1.QuotaWaiting, diagnosticsv1alpha1.QuotaUnknown,
	diagnosticsv1alpha1.QuotaBorrows, diagnosticsv1alpha1.QuotaLends, diagnosticsv1alpha1.QuotaNormal,
}

// Rank orders states by their gravity, 0 for the gravest. One that is not known comes last.
func Rank(state diagnosticsv1alpha1.QuotaState) int {
	if at := slices.Index(states, state); at >= 0 {
		return at
	}
	return len(states)
}

// IsProblem is true for a state that somebody should look at.
func IsProblem(state diagnosticsv1alpha1.QuotaState) bool {
	return Rank(state) <= Rank(diagnosticsv1alpha1.QuotaUnknown)
}

// StateOf is the gravest state of a quota's resources, and why it is that; a normal quota has no reason.
func StateOf(q *Quota) (diagnosticsv1alpha1.QuotaState, string) {
	if len(q.Problems) > 0 {
		return diagnosticsv1alpha1.QuotaInvalid, q.Problems[0]
	}
	state, why := diagnosticsv1alpha1.QuotaNormal, ""
	for _, name := range Resources(q) {
		a := AmountsOf(q, name)
		if q.Name == extension.RootQuotaName {
			a.Used = nil // it has the pods of the built-in quotas, and the runtime is what these leave
		}
		if s, text := a.state(q.Lends); Rank(s) < Rank(state) {
			state, why = s, amount.ShortName(name)+": "+text
		}
	}
	if q.Runtime == nil && Rank(state) > Rank(diagnosticsv1alpha1.QuotaUnknown) {
		return diagnosticsv1alpha1.QuotaUnknown, "koord-scheduler has not published the runtime of this quota"
	}
	return state, why
}

func (a *Amounts) state(lends bool) (diagnosticsv1alpha1.QuotaState, string) {
	switch {
	case Exceeds(a.Used, a.Runtime):
		return diagnosticsv1alpha1.QuotaOverused, fmt.Sprintf("used %s exceeds the runtime %s", a.format(a.Used), a.format(a.Runtime))
	case Exceeds(a.Request, a.Runtime):
		return diagnosticsv1alpha1.QuotaWaiting, fmt.Sprintf("pods request %s, the runtime is %s", a.format(a.Request), a.format(a.Runtime))
	case Exceeds(a.Used, a.Min):
		return diagnosticsv1alpha1.QuotaBorrows, fmt.Sprintf("used %s of which min guarantees %s", a.format(a.Used), a.format(a.Min))
	case lends && Exceeds(a.Min, a.Runtime):
		return diagnosticsv1alpha1.QuotaLends, fmt.Sprintf("the runtime is %s of the min %s", a.format(a.Runtime), a.format(a.Min))
	}
	return diagnosticsv1alpha1.QuotaNormal, ""
}

// Exceeds reports whether both amounts are known and the first is larger.
func Exceeds(a, b *int64) bool { return a != nil && b != nil && *a > *b }
