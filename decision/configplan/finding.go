package configplan

import (
	"fmt"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/configuration"
)

// Findings are what was noticed about the cluster while planning: NodeSLOs that are not what the configuration in force
// renders, so that more is written than the plan says.
func (p *Plan) Findings() []configuration.Finding {
	n := p.Summary.NodesUnconverged
	if n == 0 {
		return nil
	}
	nodes, verb := "nodes", "are"
	if n == 1 {
		nodes, verb = "node", "is"
	}
	names := strings.Join(p.Unconverged, ", ")
	if more := n - len(p.Unconverged); more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	out := configuration.Finding{
		Code: finding.ConfigUnconverged, Severity: diagnosticsv1alpha1.SeverityInfo, Nodes: n,
		Message: fmt.Sprintf("the NodeSLOs of %d %s %s not what the configuration in force renders: %s", n, nodes, verb, names),
	}
	if entry, ok := finding.Lookup(out.Code); ok {
		out.Severity, out.Cause, out.Fix = diagnosticsv1alpha1.Severity(entry.Severity), entry.Cause.English, entry.Fix.English
	}
	return []configuration.Finding{out}
}
