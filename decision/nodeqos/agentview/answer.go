package agentview

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/suppression"
)

// Names of who answers.
const (
	ByAgent     = "koordlet"
	BySimulated = "simulated-koordlet"
	ByObjects   = "koordctl"
)

// askedByName are the sections that a question has to name.
var askedByName = []diagnosticsv1alpha1.AgentSection{
	diagnosticsv1alpha1.SectionAudit, diagnosticsv1alpha1.SectionPods, diagnosticsv1alpha1.SectionUsage,
}

// Asked says whether a question wants a section; one that names none wants all but the pods, the audit log and past usage.
func Asked(question *diagnosticsv1alpha1.AgentQuestion, section diagnosticsv1alpha1.AgentSection) bool {
	if len(question.Sections) == 0 {
		return !slices.Contains(askedByName, section)
	}
	return slices.Contains(question.Sections, section)
}

// Answer answers from the objects, and says what only an agent could tell. Missing says why none did, in a few words.
func (n *Node) Answer(question *diagnosticsv1alpha1.AgentQuestion, component, missing string) diagnosticsv1alpha1.AgentExplanation {
	out := diagnosticsv1alpha1.AgentExplanation{Component: component, Unknown: n.Unknown.List()}
	if at := n.Observation.At; !at.IsZero() {
		out.ObservedAt = new(metav1.NewTime(at))
	}
	lacks := func(what string) { out.Incomplete = append(out.Incomplete, what+" "+missing) }
	suppressing, undecided := n.SuppressionInput(), n.suppressionUnknown()
	suppressed := suppression.Decide(suppressing, nil)
	if Asked(question, diagnosticsv1alpha1.SectionFeatures) {
		out.Features = n.features()
		lacks("which features are on and in effect is unknown:")
	}
	if Asked(question, diagnosticsv1alpha1.SectionSuppression) {
		out.Suppression = Suppression(suppressing)
		if undecided != "" {
			out.Suppression = n.unknownSuppression(undecided)
		}
		lacks("what is in force for best-effort pods is unknown:")
	}
	if Asked(question, diagnosticsv1alpha1.SectionCPUs) {
		var problem string
		if out.CPUs, problem = n.CPUs(heldTo(suppressed, undecided)); problem != "" {
			out.Incomplete = append(out.Incomplete, problem)
		}
	}
	switch {
	case !Asked(question, diagnosticsv1alpha1.SectionPods):
	case n.Settings != nil:
		n.Settings(&out)
	default:
		lacks("what is set for pods is unknown:")
	}
	if Asked(question, diagnosticsv1alpha1.SectionEvictions) {
		out.Evictions = Evictions(n.EvictionInput(suppressed), n.Samples, Candidates(question))
		if component != ByAgent && component != BySimulated {
			out.Evictions.Evicted, out.Evictions.EvictedWithinSeconds = 0, 0 // only an agent counts them
		}
		if len(n.Samples) == 0 {
			lacks("when a trigger is reached is unknown:")
		}
	}
	if slices.Contains(question.Sections, diagnosticsv1alpha1.SectionContainers) && component != BySimulated {
		lacks("which containers of other schedulers run is unknown:")
	}
	if Asked(question, diagnosticsv1alpha1.SectionAudit) {
		lacks("what koordlet wrote on the node is unknown:")
	}
	if Asked(question, diagnosticsv1alpha1.SectionUsage) {
		if out.Usage = n.Past; out.Usage == nil {
			lacks("what the node used before is not known:")
		}
	}
	return out
}
