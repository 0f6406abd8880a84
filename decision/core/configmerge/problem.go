package configmerge

import (
	"cmp"
	"fmt"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
)

// Problem is one thing that is wrong with the configuration.
type Problem struct {
	// Code is ConfigMalformed, ConfigOutOfRange, EvictionTooEarly, ConfigOverlap or ConfigMissing.
	Code finding.Code
	// Key of the ConfigMap, such as colocation-config; or the node annotation or label.
	Key string
	// Path of the value inside the key's JSON, such as nodeConfigs[1].cpuReclaimThresholdPercent; empty for the whole key.
	Path string
	// Line and Column of the value in the key's text, from 1; 0 when the problem has no place there.
	Line, Column int
	// Message says what is wrong, without key and place.
	Message string
	// Node the problem was noticed on; empty for problems of the ConfigMap itself.
	Node string
	// Hint is the next command; empty for that of an edit.
	Hint string
}

// String names the place and then the problem, on one line.
func (p Problem) String() string {
	where := p.Key
	if p.Path != "" {
		where += ": " + p.Path
	}
	if p.Line > 0 {
		where += fmt.Sprintf(" (line %d, column %d)", p.Line, p.Column)
	}
	return where + ": " + p.Message
}

// Rejects reports whether the problem keeps its key from taking effect; the others are warnings.
func (p Problem) Rejects() bool {
	return p.Node == "" && (p.Code == finding.ConfigMalformed || p.Code == finding.ConfigOutOfRange || p.Code == finding.EvictionTooEarly)
}

// EditHint is the next command for what the configuration says: it checks an edit and shows its plan before anything is written.
const EditHint = "koordctl config edit"

// Finding is the problem as diagnostics print it. The object is the ConfigMap of the given namespace and name, or the node
// the problem was noticed on.
func (p Problem) Finding(namespace, name string) diagnosticsv1alpha1.Finding {
	out := diagnosticsv1alpha1.Finding{
		Code:     string(p.Code),
		Severity: diagnosticsv1alpha1.Severity(p.Code.Severity()),
		Message:  p.String(),
		Object:   &diagnosticsv1alpha1.SourceRef{Kind: "ConfigMap", Namespace: namespace, Name: name, Field: "data[" + p.Key + "]"},
	}
	out.Hint = cmp.Or(p.Hint, EditHint)
	if p.Code == finding.ConfigMissing {
		out.Object.Field = ""
	}
	if p.Node != "" && p.Code != finding.ConfigOverlap {
		out.Object = &diagnosticsv1alpha1.SourceRef{Kind: "Node", Name: p.Node, Field: "metadata[" + p.Key + "]"}
		out.Hint = "kubectl edit node " + p.Node
	}
	return out
}
