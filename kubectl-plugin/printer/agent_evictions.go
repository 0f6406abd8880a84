package printer

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/phrase"
	inputs "koordinator.sh/koord/decision/core/unknown"
)

// agentEvictions prints how far each trigger is away and who would go. Features that cannot trigger are listed with -o wide.
func agentEvictions(w io.Writer, f *diagnosticsv1alpha1.EvictionForecast, o Options) error {
	if f == nil {
		return nil
	}
	if err := title(w, "Evictions", o); err != nil {
		return err
	}
	if err := line(w, o, Dim, trendSentence(f)); err != nil {
		return err
	}
	t := forecastTable(false)
	silent := 0
	for i := range f.Triggers {
		if !o.Wide && !moves(&f.Triggers[i]) {
			silent++
			continue
		}
		t.add(triggerCells(&f.Triggers[i], f.Trend != nil, o)...)
	}
	if len(t.rows) > 0 {
		if _, err := t.render(w, o); err != nil {
			return err
		}
	}
	if silent > 0 {
		if err := line(w, o, Dim, phrase.Counted(silent, "feature")+" disabled or without a threshold; -o wide lists all"); err != nil {
			return err
		}
	}
	return candidates(w, f, o)
}

func trendSentence(f *diagnosticsv1alpha1.EvictionForecast) string {
	var parts []string
	if trend := f.Trend; trend != nil {
		parts = append(parts, fmt.Sprintf("trend: %s and %s per hour (%s over %s)", signed(trend.CPUPerHour, diagnosticsv1alpha1.MilliCPU),
			signed(trend.MemoryPerHour, diagnosticsv1alpha1.Bytes), phrase.Counted(int(trend.Samples), "sample"), seconds(trend.OverSeconds)))
	} else {
		parts = append(parts, "the usage trend is unknown")
	}
	if f.EvictedWithinSeconds > 0 {
		parts = append(parts, fmt.Sprintf("%s within the last %s", phrase.Counted(int(f.Evicted), "eviction"), seconds(f.EvictedWithinSeconds)))
	}
	return strings.Join(parts, "; ")
}

func signed(value int64, unit diagnosticsv1alpha1.Unit) string {
	text := QuantityWithUnit(value, unit)
	if value > 0 {
		return "+" + text
	}
	return text
}

// forecastTable is one row a trigger; of several nodes with the node first.
func forecastTable(nodes bool) *table {
	t := &table{indent: 2, columns: []column{
		{header: "TRIGGER"}, {header: "STATE"}, {header: "NOW", right: true}, {header: "AT", right: true}, {header: "MARGIN", right: true, drop: 1},
		{header: "IN", right: true}, {header: "NEXT", flexible: 12, drop: 2, says: true}, {header: "REASON", flexible: 20, drop: 3, says: true},
	}}
	if nodes {
		t.indent, t.columns = 0, append([]column{{header: "NODE", flexible: 12}}, t.columns...)
	}
	return t
}

// moves says whether a trigger can be reached as things are.
func moves(t *diagnosticsv1alpha1.EvictionTrigger) bool {
	return t.State != "off" && t.State != "unset"
}

func triggerCells(t *diagnosticsv1alpha1.EvictionTrigger, trend bool, o Options) []cell {
	name, margin, next := t.Feature, "-", "-"
	if t.Tier != "" {
		name += "/" + t.Tier
	}
	if t.Margin != nil {
		margin = QuantityWithUnit(*t.Margin, t.Unit)
	}
	if t.CandidatesUnknown != "" && moves(t) {
		next = unknown
	}
	if len(t.Candidates) > 0 && moves(t) {
		next = t.Candidates[0].Namespace + "/" + t.Candidates[0].Name
	}
	reason := t.Reason
	if t.Held != "" {
		reason = t.Held
	}
	return []cell{
		text(name), triggerState(t, o), text(percentOr(t.ObservedPercent)), text(percentOr(t.ThresholdPercent)), text(margin), text(until(t, trend)), text(next), painted(Dim, reason),
	}
}

func triggerState(t *diagnosticsv1alpha1.EvictionTrigger, o Options) cell {
	state := string(t.State)
	switch t.State {
	case "triggered":
		return styled(o.Style.Mark(Bad) + " " + o.Style.Paint(Bad, state))
	case "calm":
		return styled(o.Style.Mark(Good) + " " + state)
	case "unknown":
		return styled(o.Style.Mark(Warn) + " " + o.Style.Paint(Warn, state))
	}
	return painted(Dim, state)
}

// immeasurable is a share that has no number: of an offer of nothing.
const immeasurable = int64(1) << 60

func percentOr(value *int64) string {
	switch {
	case value == nil:
		return "-"
	case *value >= immeasurable:
		return ">999%"
	}
	return Quantity(*value, diagnosticsv1alpha1.Percent)
}

// followsUse are the features that use alone brings closer; the others move when pods, offers or limits change.
var followsUse = map[string]bool{"CPUEvict": true, "BEMemoryEvict": true, "MemoryEvict": true}

// until a trigger is reached; without a trend that is not known.
func until(t *diagnosticsv1alpha1.EvictionTrigger, trend bool) string {
	switch {
	case t.Seconds == nil && t.State == "calm" && followsUse[t.Feature] && !trend:
		return unknown
	case t.Seconds == nil && t.State == "calm" && followsUse[t.Feature]:
		return "never"
	case t.Seconds == nil:
		return "-"
	case *t.Seconds == 0:
		return "now"
	}
	return seconds(*t.Seconds)
}

// candidates lists who would go first for each trigger that can be reached, with the keys that order them.
func candidates(w io.Writer, f *diagnosticsv1alpha1.EvictionForecast, o Options) error {
	for i := range f.Triggers {
		trigger := &f.Triggers[i]
		if !moves(trigger) || len(trigger.Candidates) == 0 {
			continue
		}
		if err := title(w, "Who "+trigger.Feature+" would take, in order", o); err != nil {
			return err
		}
		t := table{indent: 2, columns: []column{{header: "#", right: true}, {header: "POD", flexible: 16}, {header: "FREES", right: true}, {header: "ORDERED-BY", flexible: 20, drop: 1}}}
		for n, candidate := range trigger.Candidates {
			role := Plain
			if candidate.Victim {
				role = Bad
			}
			t.add(text(fmt.Sprint(n+1)), painted(role, candidate.Namespace+"/"+candidate.Name), text(QuantityWithUnit(candidate.Frees, trigger.Unit)), painted(Dim, keys(candidate.Keys)))
		}
		if _, err := t.render(w, o); err != nil {
			return err
		}
		var rest []string
		if trigger.CandidatesOmitted > 0 {
			rest = append(rest, phrase.Counted(int(trigger.CandidatesOmitted), "more candidate"))
		}
		if trigger.Protected > 0 {
			rest = append(rest, phrase.Counted(int(trigger.Protected), "pod")+" never evicted")
		}
		if len(rest) > 0 {
			if err := line(w, o, Dim, "and "+strings.Join(rest, ", ")); err != nil {
				return err
			}
		}
	}
	return nil
}

// keys in the order in which they decide.
func keys(sorted []diagnosticsv1alpha1.SortKey) string {
	parts := make([]string, len(sorted))
	for i, key := range sorted {
		parts[i] = key.Name + " " + Quantity(key.Value, key.Unit)
		if key.Descending {
			parts[i] += " (most first)"
		}
	}
	return strings.Join(parts, ", ")
}

// unread says which input could not be read where it leaves no trigger of a node known; empty where any is known.
func unread(agent *diagnosticsv1alpha1.AgentExplanation) string {
	why := inputs.Of(agent.Unknown).Because(inputs.NodeSLOs, inputs.NodeMetrics)
	moving := false
	for i := range agent.Evictions.Triggers {
		trigger := &agent.Evictions.Triggers[i]
		if moves(trigger) && trigger.State != "unknown" {
			return ""
		}
		moving = moving || moves(trigger)
	}
	if !moving {
		return ""
	}
	return why
}

// Forecasts prints the triggers of several nodes that can be reached, the nearest of each node's own order.
func Forecasts(w io.Writer, list *diagnosticsv1alpha1.NodeExplanationList, o Options) error {
	t := forecastTable(true)
	silent, unheard := 0, map[string]int{}
	for i := range list.Items {
		e := &list.Items[i]
		if e.Status.Agent == nil || e.Status.Agent.Evictions == nil {
			unheard[""]++
			continue
		}
		if why := unread(e.Status.Agent); why != "" && !o.Wide {
			unheard[why]++
			continue
		}
		shown := false
		for n := range e.Status.Agent.Evictions.Triggers {
			trigger := &e.Status.Agent.Evictions.Triggers[n]
			if !o.Wide && !moves(trigger) {
				continue
			}
			shown = true
			t.add(append([]cell{text(e.Spec.NodeName)}, triggerCells(trigger, e.Status.Agent.Evictions.Trend != nil, o)...)...)
		}
		if !shown {
			silent++
		}
	}
	if len(t.rows) > 0 {
		if _, err := t.render(w, o); err != nil {
			return err
		}
	}
	var b strings.Builder
	for _, why := range slices.Sorted(maps.Keys(unheard)) {
		text := phrase.Counted(unheard[why], "node") + " unknown"
		if why != "" {
			text += ": " + why
		}
		wrapped(&b, o, 0, o.Style.Paint(Warn, o.say(text)))
	}
	if silent > 0 {
		wrapped(&b, o, 0, o.Style.Paint(Dim, o.say(phrase.Counted(silent, "node")+" without an eviction trigger as configured; -o wide lists all")))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
