package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/nodeqos/agentview"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// Capability is what the agents report of one feature: a row of the matrix of features and nodes. Nodes with the same answer are counted
// together.
type Capability struct {
	// Feature is the name of the feature gate.
	Feature string `json:"feature"`
	// Nodes whose agents answered, and how many of them have the gate on, the feature configured, supported and in effect.
	Nodes      int `json:"nodes"`
	Enabled    int `json:"enabled"`
	Configured int `json:"configured"`
	Supported  int `json:"supported"`
	Effective  int `json:"effective"`
	// Unknown counts the nodes whose agents do not know whether it is supported, such as simulated ones.
	Unknown int `json:"unknown,omitempty"`
	// Unsupported are the nodes that do not support all of it, by the reason.
	Unsupported []CapabilityGap `json:"unsupported,omitempty"`
}

// CapabilityGap is why some nodes do not support a feature.
type CapabilityGap struct {
	Reason string   `json:"reason"`
	Nodes  []string `json:"nodes"`
}

// answered says whether the agent itself answered; otherwise the answer was concluded from the objects of its node.
func (a *AgentAnswer) answered() bool {
	return a.Agent != nil && (a.Agent.Component == agentview.ByAgent || a.Agent.Component == agentview.BySimulated)
}

// answering are the agents that answered.
func (f *Facts) answering() []AgentAnswer {
	var out []AgentAnswer
	for i := range f.Agents.Value {
		if f.Agents.Value[i].answered() {
			out = append(out, f.Agents.Value[i])
		}
	}
	return out
}

// capabilities is the matrix of these agents, in the order of the features.
func capabilities(agents []AgentAnswer) []Capability {
	var out []Capability
	for i := range agents {
		for j := range agents[i].Agent.Features {
			feature := &agents[i].Agent.Features[j]
			at := slices.IndexFunc(out, func(c Capability) bool { return c.Feature == feature.Name })
			if at < 0 {
				at = len(out)
				out = append(out, Capability{Feature: feature.Name})
			}
			out[at].count(agents[i].Node, feature)
		}
	}
	return out
}

func (c *Capability) count(node string, feature *diagnosticsv1alpha1.AgentFeature) {
	c.Nodes++
	if feature.Gate {
		c.Enabled++
	}
	if feature.Configured == diagnosticsv1alpha1.FeatureYes {
		c.Configured++
	}
	if feature.Effective == diagnosticsv1alpha1.FeatureYes {
		c.Effective++
	}
	switch feature.Supported {
	case diagnosticsv1alpha1.FeatureYes:
		c.Supported++
	case diagnosticsv1alpha1.FeatureNo, diagnosticsv1alpha1.FeaturePartly:
		reason := whyUnsupported(feature)
		at := slices.IndexFunc(c.Unsupported, func(g CapabilityGap) bool { return g.Reason == reason })
		if at < 0 {
			at = len(c.Unsupported)
			c.Unsupported = append(c.Unsupported, CapabilityGap{Reason: reason})
		}
		c.Unsupported[at].Nodes = append(c.Unsupported[at].Nodes, node)
	default:
		c.Unknown++
	}
}

// whyUnsupported is what the agent says of a feature that the kernel does not support, or not all of it.
func whyUnsupported(feature *diagnosticsv1alpha1.AgentFeature) string {
	if len(feature.Problems) > 0 {
		return strings.Join(feature.Problems, "; ")
	}
	if feature.Reason != "" {
		return feature.Reason
	}
	return "the agent does not say why"
}

// asksForIt says whether the NodeSLO asks for a feature. One that follows pods or always reports is asked for by nothing in particular.
func asksForIt(feature *diagnosticsv1alpha1.AgentFeature) bool {
	spec, known := nodefeature.Named(feature.Name)
	return known && spec.NodeSLO != "" && feature.Gate && feature.Configured == diagnosticsv1alpha1.FeatureYes
}

// perFeature makes a finding of each group of nodes that have the same problem with a feature.
func perFeature(agents []AgentAnswer, code finding.Code, problem func(*diagnosticsv1alpha1.AgentFeature) string) []diagnosticsv1alpha1.Finding {
	groups := map[string][]string{}
	for i := range agents {
		for j := range agents[i].Agent.Features {
			if text := problem(&agents[i].Agent.Features[j]); text != "" {
				groups[text] = append(groups[text], agents[i].Node)
			}
		}
	}
	var found []diagnosticsv1alpha1.Finding
	for _, text := range slices.Sorted(maps.Keys(groups)) {
		nodes := groups[text]
		found = append(found, report(code, fmt.Sprintf("koordctl explain node %s features", nodes[0]), "%s; on %s", text, some(nodes)))
	}
	return found
}

// judgedAgents is the outcome of a check of what the agents answer.
func judgedAgents(f *Facts, code finding.Code, problem func(*diagnosticsv1alpha1.AgentFeature) string) Outcome {
	agents := f.answering()
	switch {
	case len(f.Agents.Unread) > 0:
		return unknown(f.Agents.Unread...)
	case len(agents) == 0 && len(f.Nodes.Unread) > 0:
		return unknown(f.Nodes.Unread...)
	case len(agents) == 0:
		return unknown("no agent was asked or answered; the diagnostics API asks them")
	}
	return judged(fmt.Sprintf("agents that answered: %d/%d", len(agents), len(f.Nodes.Value)), perFeature(agents, code, problem))
}

func nodeCapabilities(f *Facts) Outcome {
	return judgedAgents(f, finding.FeatureUnsupported, func(feature *diagnosticsv1alpha1.AgentFeature) string {
		switch {
		case !asksForIt(feature):
			return ""
		case feature.Supported == diagnosticsv1alpha1.FeatureNo:
			return fmt.Sprintf("%s is configured and not supported: %s", feature.Name, whyUnsupported(feature))
		case feature.Supported == diagnosticsv1alpha1.FeaturePartly:
			return fmt.Sprintf("%s is configured and only partly supported: %s", feature.Name, whyUnsupported(feature))
		}
		return ""
	})
}

// nodeEffects finds values that features want and that are not what the kernel has.
func nodeEffects(f *Facts) Outcome {
	return judgedAgents(f, finding.ConfigInert, func(feature *diagnosticsv1alpha1.AgentFeature) string {
		if !feature.Gate || feature.Wanted == 0 || feature.Effective != diagnosticsv1alpha1.FeatureNo {
			return ""
		}
		text := feature.Name + " sets values and none is in force"
		if feature.LastError != "" {
			text += ": " + feature.LastError
		}
		return text
	})
}
