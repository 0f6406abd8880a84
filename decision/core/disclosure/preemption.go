package disclosure

import (
	"fmt"
	"slices"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/phrase"
)

// preemption keeps the victims that may be named, and the number of all.
func (v *viewer) preemption(p *diagnosticsv1alpha1.Preemption) {
	if p == nil {
		return
	}
	victims := len(p.Victims)
	p.Victims = slices.DeleteFunc(p.Victims, func(victim diagnosticsv1alpha1.PreemptionVictim) bool {
		if victim.ReservationName != "" {
			return !v.reservation(victim.ReservationName)
		}
		return !v.pod(victim.Namespace, victim.Name)
	})
	if p.NodeName != "" && !v.node(p.NodeName) {
		p.NodeName = ""
	}
	p.Message = preemptionMessage(p, victims)
	for i := range p.Declined {
		p.Declined[i].Message = "its reason may name objects that you may not get"
	}
	for i := range p.Refusals {
		if refusal := &p.Refusals[i]; refusal.Plugin != "" {
			refusal.Reason = told(refusal.Code, refusal.Plugin, refusal.Reason)
		}
	}
}

func preemptionMessage(p *diagnosticsv1alpha1.Preemption, victims int) string {
	from := ""
	if p.NodeName != "" {
		from = " from node " + p.NodeName
	}
	switch p.Verdict {
	case diagnosticsv1alpha1.PreemptionEvicts:
		message := fmt.Sprintf("%s would evict %s%s", p.Plugin, phrase.Counted(victims, "pod"), from)
		if p.BudgetViolations > 0 {
			message += fmt.Sprintf(", of which a disruption budget protects %d", p.BudgetViolations)
		}
		return message
	case diagnosticsv1alpha1.PreemptionWaits:
		if p.NodeName == "" {
			return "pods are terminating for this pod"
		}
		return fmt.Sprintf("pods on node %s are terminating for this pod", p.NodeName)
	case diagnosticsv1alpha1.PreemptionNotAllowed:
		return "the pod's preemptionPolicy is Never"
	}
	return fmt.Sprintf("evicting pods does not help on any of the %s tried", phrase.Counted(int(p.NodesTried), "node"))
}
