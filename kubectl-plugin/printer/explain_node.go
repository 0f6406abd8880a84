package printer

import (
	"fmt"
	"io"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/phrase"
)

// NodeExplanation prints where a node's batch and mid resources come from: the answer, a waterfall a resource, why
// node.status differs, the settings with the layer each came from, and what was noticed.
func NodeExplanation(w io.Writer, e *diagnosticsv1alpha1.NodeExplanation, o Options) error {
	s := &e.Status
	var b strings.Builder
	wrapped(&b, o, 0, o.Style.Paint(Strong, o.say(s.Summary)))
	wrapped(&b, o, 0, nodeLine(s, o))
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	for i := range s.Waterfalls {
		if err := titledWaterfall(w, s, &s.Waterfalls[i], o); err != nil {
			return err
		}
	}
	if err := uncomputed(w, s, o); err != nil {
		return err
	}
	if err := settings(w, s.Strategy, o); err != nil {
		return err
	}
	if err := findings(w, s.Findings, o); err != nil {
		return err
	}
	if err := withheld(w, s.Withheld, o); err != nil {
		return err
	}
	return origin(w, s.Origin, o)
}

func nodeLine(s *diagnosticsv1alpha1.NodeExplanationStatus, o Options) string {
	n := &s.Node
	state := "Ready"
	if !n.Ready {
		state = "NotReady"
	}
	if n.Unschedulable {
		state += ",SchedulingDisabled"
	}
	cpu, memory := n.Capacity.Cpu(), n.Capacity.Memory()
	parts := []string{
		o.Style.Clean(n.Name) + " " + state,
		o.say(QuantityWithUnit(cpu.MilliValue(), diagnosticsv1alpha1.MilliCPU)) + ", " + Bytes(memory.Value()),
		o.say(podCount(n.Pods)),
		metricSentence(s.Metric, o),
	}
	return strings.Join(parts, "; ")
}

// podCount says how many pods a node has, or that they could not be listed.
func podCount(n *int32) string {
	if n == nil {
		return unknown + " pods"
	}
	return phrase.Counted(int(*n), "pod")
}

func metricSentence(m diagnosticsv1alpha1.MetricFacts, o Options) string {
	if m.State == diagnosticsv1alpha1.MetricUnknown && m.UpdateTime == nil {
		return "NodeMetric " + o.Style.Paint(Warn, unknown)
	}
	if m.State == diagnosticsv1alpha1.MetricAbsent || m.UpdateTime == nil {
		return "NodeMetric " + o.Style.Paint(Warn, string(diagnosticsv1alpha1.MetricAbsent))
	}
	role := Warn
	if m.State == diagnosticsv1alpha1.MetricFresh {
		role = Good
	}
	sentence := fmt.Sprintf("NodeMetric %s, %s", o.Style.Paint(role, o.Style.Clean(string(m.State))), o.say(metricAgeText(o.Now, m.UpdateTime)))
	if m.ReportIntervalSeconds > 0 {
		sentence += o.say(fmt.Sprintf(", reported every %ds", m.ReportIntervalSeconds))
	}
	if m.Problem != "" {
		sentence += ": " + o.say(m.Problem)
	}
	return sentence
}

func metricAgeText(now time.Time, updated *metav1.Time) string {
	if age := Age(now, updated); age != future {
		return age + " old"
	}
	return "updated in the future"
}

func titledWaterfall(w io.Writer, s *diagnosticsv1alpha1.NodeExplanationStatus, fall *diagnosticsv1alpha1.Waterfall, o Options) error {
	title := o.Style.Clean(shortResource(fall.Resource)) + " = " + o.say(QuantityWithUnit(fall.Result, fall.Unit))
	var b strings.Builder
	b.WriteString("\n")
	policy := "policy " + fall.Policy
	if fall.Degraded && fall.Policy != "degraded" {
		policy += ", degraded"
	}
	wrapped(&b, o, 0, o.Style.Paint(Header, title)+" ("+o.say(policy)+")")
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	if err := Waterfall(w, fall, o); err != nil {
		return err
	}
	for i := range s.Published {
		if s.Published[i].Resource == fall.Resource {
			return published(w, &s.Published[i], o)
		}
	}
	return nil
}

// uncomputed prints what node.status says of the resources that could not be computed, and why they could not.
func uncomputed(w io.Writer, s *diagnosticsv1alpha1.NodeExplanationStatus, o Options) error {
	for i := range s.Published {
		p := &s.Published[i]
		if p.Computed != nil {
			continue
		}
		if err := title(w, shortResource(p.Resource)+" = "+unknown, o); err != nil {
			return err
		}
		if err := published(w, p, o); err != nil {
			return err
		}
	}
	return nil
}

func published(w io.Writer, p *diagnosticsv1alpha1.PublishedResource, o Options) error {
	value := "does not have it"
	if p.Published != nil {
		value = "says " + QuantityWithUnit(*p.Published, p.Unit)
	}
	role := Warn
	if p.State == diagnosticsv1alpha1.InSync {
		role = Good
	}
	line := fmt.Sprintf("%s node.status %s: %s", o.Style.Mark(role), o.say(value), o.Style.Paint(role, o.Style.Clean(string(p.State))))
	if p.Reason != "" {
		line += ", " + o.say(p.Reason)
	}
	var b strings.Builder
	wrapped(&b, o, 2, line)
	_, err := io.WriteString(w, b.String())
	return err
}

// settings prints what differs from the built-in defaults. What is at its default, also where somebody has set it, is counted, and listed
// with -o wide.
func settings(w io.Writer, strategy []diagnosticsv1alpha1.Setting, o Options) error {
	t := table{indent: 2, columns: []column{{header: "KEY"}, {header: "VALUE", flexible: 20}, {header: "LAYER", flexible: 20}}}
	defaults := 0
	for _, setting := range strategy {
		if (setting.AtDefault || setting.Layer == "default") && !o.Wide {
			defaults++
			continue
		}
		t.add(text(setting.Key), text(setting.Value), painted(Dim, setting.Layer))
	}
	if len(strategy) == 0 {
		return nil
	}
	if _, err := fmt.Fprintf(w, "\n%s\n", o.Style.Paint(Header, o.say("Settings in force"))); err != nil {
		return err
	}
	if len(t.rows) > 0 {
		if _, err := t.render(w, o); err != nil {
			return err
		}
	}
	if defaults == 0 {
		return nil
	}
	var b strings.Builder
	wrapped(&b, o, 2, o.Style.Paint(Dim, o.say(phrase.Counted(defaults, "setting")+" at the default; -o wide lists all")))
	_, err := io.WriteString(w, b.String())
	return err
}

// shortResource is the part of a resource name that people say: batch-cpu.
func shortResource(name string) string {
	return name[strings.LastIndex(name, "/")+1:]
}
