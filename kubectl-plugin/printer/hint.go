package printer

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// fewHinted is how many preferred nodes are listed where no parts are asked for.
const fewHinted = 3

// hint prints the scheduling hint of a pod: who wrote it, which nodes it prefers, and why others are not among them.
func hint(w io.Writer, h *diagnosticsv1alpha1.PodHint, o Options) error {
	if h == nil {
		return nil
	}
	var b strings.Builder
	b.WriteString("\n")
	line := o.Style.Paint(Header, o.say(h.Summary))
	if h.WrittenAt != nil && !h.WrittenAt.IsZero() {
		line += o.Style.Paint(Dim, " ("+o.say("written "+Age(o.Now, h.WrittenAt)+" ago")+")")
	}
	wrapped(&b, o, 0, line)
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	t := table{indent: 2, columns: []column{
		{header: "NODES", right: true}, {header: "NAMES", flexible: 24}, {header: "REASON", flexible: 60, says: true},
	}}
	for i := range shown(len(h.Only), o) {
		t.add(text("1"), text(h.Only[i]), text("the pod is restricted to it"))
	}
	t.rest(len(h.Only)-shown(len(h.Only), o), "the pod is restricted to them")
	for i := range shown(len(h.Preferred), o) {
		reason := "preferred"
		if message := h.Preferred[i].Message; message != "" {
			reason += ": " + message
		}
		t.add(text("1"), text(h.Preferred[i].Node), painted(Strong, reason))
	}
	t.rest(len(h.Preferred)-shown(len(h.Preferred), o), "preferred, in this order")
	for _, left := range h.LeftOut {
		names := strings.Join(left.Nodes, ", ")
		if more := int(left.Count) - len(left.Nodes); more > 0 && len(left.Nodes) > 0 {
			names += fmt.Sprintf(" and %d more", more)
		}
		t.add(text(strconv.Itoa(int(left.Count))), text(names), painted(Dim, "not preferred: "+left.Reason))
	}
	if len(t.rows) == 0 {
		return nil
	}
	_, err := t.render(w, o)
	return err
}

// shown is how many of so many nodes are listed one by one.
func shown(count int, o Options) int { return min(count, max(fewHinted, o.Parts)) }

// rest adds a row for nodes that are not listed.
func (t *table) rest(count int, reason string) {
	if count > 0 {
		t.add(text(strconv.Itoa(count)), text("..."), painted(Dim, reason))
	}
}

// HintInShort is the hint of a pod in one sentence, with the node that it prefers most; empty where there is none, or a finding says it.
func HintInShort(h *diagnosticsv1alpha1.PodHint) string {
	switch {
	case h == nil || h.Code != "":
		return ""
	case len(h.Preferred) == 0 || h.Preferred[0].Message == "":
		return h.Summary
	}
	return fmt.Sprintf("%s; first %s: %s", h.Summary, h.Preferred[0].Node, h.Preferred[0].Message)
}
