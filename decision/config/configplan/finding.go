package configplan

import (
	"fmt"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/config/configuration"
)

// maxExamples bounds the names that Examples gives.
const maxExamples = 5

// Examples names the first of many nodes in a sentence, and counts the others. Without a name it is empty.
func Examples(names []string) string {
	text := strings.Join(names[:min(len(names), maxExamples)], ", ")
	if more := len(names) - maxExamples; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Findings are what was noticed about the cluster while planning: NodeSLOs that are not what the configuration in force
// renders, so that more is written than the plan says.
func (p *Plan) Findings() []configuration.Finding {
	if p.Summary.NodesUnconverged == nil || *p.Summary.NodesUnconverged == 0 {
		return nil
	}
	n := *p.Summary.NodesUnconverged
	format := "the NodeSLOs of %d nodes are out of date with the configuration in force: %s"
	if n == 1 {
		format = "the NodeSLOs of %d node is out of date with the configuration in force: %s"
	}
	out := configuration.Finding{
		Code: finding.ConfigUnconverged, Severity: diagnosticsv1alpha1.SeverityInfo, Nodes: n,
		Message: fmt.Sprintf(format, n, Examples(p.Unconverged)),
	}
	if entry, ok := finding.Lookup(out.Code); ok {
		out.Severity, out.Cause, out.Fix = diagnosticsv1alpha1.Severity(entry.Severity), entry.Cause.English, entry.Fix.English
	}
	return []configuration.Finding{out}
}
