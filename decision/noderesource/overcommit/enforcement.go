package overcommit

import (
	"fmt"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/noderesource/enforcement"
)

// notEnforcing says, as "REASON: MESSAGE", why the agent of a node cannot hold best-effort pods back; empty when it can, and where it
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
	return "koordlet cannot hold best-effort pods back: " + c.unenforced
}

// NotEnforcing is the finding for a node whose agent cannot hold best-effort pods back, and why. That it was told so is a warning.
func NotEnforcing(node, why string) diagnosticsv1alpha1.Finding {
	out := found(finding.AgentNotEnforcing, fmt.Sprintf("Node %s: koordlet cannot hold best-effort pods back, so that nothing is offered: %s.", node, why),
		"koordctl explain node "+node+" features", nil)
	if ByChoice(why) {
		out.Severity = diagnosticsv1alpha1.SeverityWarning
	}
	return out
}

// ByChoice tells whether an agent does not enforce because it was told so.
func ByChoice(why string) bool {
	reason, _, _ := strings.Cut(why, ":")
	return reason == slov1alpha1.ReasonReadOnly
}
