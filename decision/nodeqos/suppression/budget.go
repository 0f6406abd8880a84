package suppression

import (
	"fmt"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/capacity"
	"koordinator.sh/koord/decision/core/waterfall"
)

// Budget is how much CPU best-effort pods may use.
type Budget struct {
	// Milli is the budget in milli-cores, at least 0.
	Milli int64 `json:"milli"`
	// BestEffortUsed is what they use now, in milli-cores.
	BestEffortUsed int64 `json:"bestEffortUsed"`
	// AboveUsed is what pods above best effort use now, in milli-cores.
	AboveUsed int64 `json:"aboveUsed"`
	// ThresholdPercent of the capacity that the budget was computed with.
	ThresholdPercent int64 `json:"thresholdPercent"`
}

// Exceeded says whether best-effort pods use more than they may.
func (b Budget) Exceeded() bool { return b.BestEffortUsed > b.Milli }

// BudgetOf computes the budget of a node. How old the measurement is does not matter to it. Thresholds that are not set are
// 65 and 0 percent. A nil trace records nothing.
func BudgetOf(m Measurement, strategy *slov1alpha1.ResourceThresholdStrategy, trace *Trace) Budget {
	w := trace.steps()
	threshold, least := int64(DefaultThresholdPercent), int64(0)
	if strategy != nil {
		threshold = orElse(strategy.CPUSuppressThresholdPercent, threshold)
		least = orElse(strategy.CPUSuppressMinPercent, least)
	}
	pods, applications := sum(m.Pods, w.Records()), sum(m.HostApplications, w.Records())
	w.Step(diagnosticsv1alpha1.Start, "capacity", max(m.Capacity, 0), "")
	w.Step(diagnosticsv1alpha1.Times, "threshold", threshold, "of the capacity may be used by all together")
	takeUsed(&w, "podsUsed", pods, "used by pods above best effort")
	takeUsed(&w, "hostApplicationsUsed", applications, "used by host applications above best effort")
	takeSystem(&w, m, waterfall.Add(pods.all, applications.all))
	if relief := m.Relief; relief.Percent > 0 && relief.Percent < 100 {
		w.Step(diagnosticsv1alpha1.Max, "nothing", 0, "not below 0")
		w.Step(diagnosticsv1alpha1.Times, "relief", relief.Percent, relief.Why)
	}
	if floor := w.Step(diagnosticsv1alpha1.Max, "floor", max(capacity.Percent(max(m.Capacity, 0), least), 0), ""); floor != nil {
		floor.Note = fmt.Sprintf("at least %d%% of the capacity", least)
	}
	milli, terms := w.End("budget")
	trace.budget(terms)
	return Budget{Milli: milli, BestEffortUsed: pods.bestEffort, AboveUsed: pods.above, ThresholdPercent: threshold}
}

// takeUsed takes what loads above best effort use.
func takeUsed(w *waterfall.Waterfall, name string, used sums, note string) {
	if term := w.Step(diagnosticsv1alpha1.Minus, name, used.above, note); term != nil {
		term.Parts = used.byQoS
	}
}

// takeSystem takes what the node uses beyond pods and host applications, or what is reserved when that is more. A reservation
// is CPU that the system may want at any moment.
func takeSystem(w *waterfall.Waterfall, m Measurement, accounted int64) {
	used, reserved := max(waterfall.Add(max(m.NodeUsed, 0), -accounted), 0), max(m.Reserved, 0)
	name := "systemUsed"
	if reserved > used {
		name = "reserved"
	}
	term := w.Step(diagnosticsv1alpha1.Minus, name, max(used, reserved), "")
	if term == nil {
		return
	}
	term.Note = fmt.Sprintf("the node uses %s cores, pods and host applications %s of them; %s reserved is less",
		cores(max(m.NodeUsed, 0)), cores(accounted), cores(reserved))
	if reserved > used {
		term.Note = fmt.Sprintf("reserved on the node; the system uses %s cores, which is less", cores(used))
	}
	term.Parts = []waterfall.Term{part("systemUsed", used), part("reserved", reserved)}
}

// part is a piece of a term in milli-cores.
func part(name string, milli int64) waterfall.Term {
	return waterfall.Term{Name: name, Operator: diagnosticsv1alpha1.Info, Value: milli, Unit: diagnosticsv1alpha1.MilliCPU}
}

func orElse(value *int64, fallback int64) int64 {
	if value == nil {
		return fallback
	}
	return *value
}

func cores(milli int64) string { return fmt.Sprintf("%.4g", float64(milli)/1000) }
