package overcommit

import (
	"fmt"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/noderesource/enforcement"
)

// notEnforcing says, as "REASON: MESSAGE", why the agent of a node cannot limit best-effort pods; empty when it can, and where it
// does not tell.
func notEnforcing(metric *slov1alpha1.NodeMetric) string {
	verdict, told := enforcement.Told(metric)
	if !told || verdict.Enforcing {
		return ""
	}
	return verdict.Reason + ": " + verdict.Message
}

// unenforcedReason says why nothing is offered.
func (c *calculation) unenforcedReason() string {
	return "koordlet cannot limit best-effort pods: " + c.unenforced
}

// NotEnforcing is the finding for a node whose agent cannot limit best-effort pods, and why. That it is configured so is a warning.
func NotEnforcing(node, why string) diagnosticsv1alpha1.Finding {
	out := found(finding.AgentNotEnforcing, fmt.Sprintf("Node %s: koordlet cannot limit best-effort pods, so no batch or mid resources are offered: %s.", node, why),
		"koordctl explain node "+node+" features", nil)
	if ByChoice(why) {
		out.Severity = diagnosticsv1alpha1.SeverityWarning
	}
	return out
}

// ByChoice reports whether an agent does not enforce because it is configured so.
func ByChoice(why string) bool {
	reason, _, _ := strings.Cut(why, ":")
	return reason == slov1alpha1.ReasonReadOnly
}
