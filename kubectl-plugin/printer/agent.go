package printer

import (
	"io"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/agentview"
)

// AgentExplanation prints what the agent of a node says, section by section, and what was noticed on the way.
func AgentExplanation(w io.Writer, e *diagnosticsv1alpha1.NodeExplanation, o Options) error {
	agent := e.Status.Agent
	if agent == nil {
		agent = &diagnosticsv1alpha1.AgentExplanation{}
	}
	var b strings.Builder
	wrapped(&b, o, 0, agentLine(e, agent, o))
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	for _, print := range []func() error{
		func() error { return agentFeatures(w, agent.Features, o) },
		func() error { return agentSuppression(w, agent.Suppression, o) },
		func() error { return agentCPUs(w, agent.CPUs, o) },
		func() error { return agentPods(w, agent.Pods, o) },
		func() error { return agentContainers(w, agent.Agents, o) },
		func() error { return agentEvictions(w, agent.Evictions, o) },
		func() error { return findings(w, e.Status.Findings, o) },
		func() error { return withheld(w, e.Status.Withheld, o) },
		func() error { return origin(w, e.Status.Origin, o) },
	} {
		if err := print(); err != nil {
			return err
		}
	}
	return nil
}

// agentLine says who answered of which node, and how old what it saw is.
func agentLine(e *diagnosticsv1alpha1.NodeExplanation, agent *diagnosticsv1alpha1.AgentExplanation, o Options) string {
	parts := []string{o.Style.Paint(Strong, o.Style.Clean(e.Spec.NodeName))}
	switch agent.Component {
	case agentview.ByAgent, agentview.BySimulated:
		parts = append(parts, o.Style.Clean(agent.Component))
	default:
		parts = append(parts, o.Style.Paint(Warn, o.say("koordlet did not respond; from API objects only")))
	}
	if agent.ReadOnly {
		parts = append(parts, o.Style.Paint(Warn, o.say("read-only, writes nothing")))
	}
	if agent.Cgroups != "" {
		parts = append(parts, "cgroups "+o.Style.Clean(agent.Cgroups))
	}
	if agent.ObservedAt != nil {
		parts = append(parts, o.say("measured "+Ago(o.Now, agent.ObservedAt)))
	}
	return strings.Join(parts, "; ")
}

// title begins a section.
func title(w io.Writer, text string, o Options) error {
	var b strings.Builder
	b.WriteString("\n")
	wrapped(&b, o, 0, o.Style.Paint(Header, o.say(text)))
	_, err := io.WriteString(w, b.String())
	return err
}

// line writes an indented paragraph.
func line(w io.Writer, o Options, role Role, text string) error {
	var b strings.Builder
	wrapped(&b, o, 2, o.Style.Paint(role, o.say(text)))
	_, err := io.WriteString(w, b.String())
	return err
}
