package printer

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/phrase"
)

// PodExplanation prints why a pod is pending, or why it runs where it runs: one sentence, the nodes grouped by refusal,
// the smallest change that helps, the scores behind a placement.
func PodExplanation(w io.Writer, e *diagnosticsv1alpha1.PodExplanation, o Options) error {
	s := &e.Status
	var b strings.Builder
	headline(&b, s, o)
	wrapped(&b, o, 0, podLine(&s.Pod, o))
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	if err := refusals(w, s, o); err != nil {
		return err
	}
	if err := census(w, s.Reservations, o); err != nil {
		return err
	}
	if err := hint(w, s.Pod.Hint, o); err != nil {
		return err
	}
	if err := fix(w, s.Fix, o); err != nil {
		return err
	}
	if err := beyondRights(w, s, o); err != nil {
		return err
	}
	if err := preemption(w, s.Preemption, o); err != nil {
		return err
	}
	if err := placement(w, s.Placement, o); err != nil {
		return err
	}
	if err := history(w, s, o); err != nil {
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

func headline(b *strings.Builder, s *diagnosticsv1alpha1.PodExplanationStatus, o Options) {
	role := VerdictRole(s.Verdict)
	line := o.Style.Mark(role) + " " + o.Style.Paint(role, o.Style.Clean(string(s.Verdict))) + ": " + o.Style.Paint(Strong, o.say(s.Summary))
	if s.Code != "" {
		line += o.Style.Paint(Dim, " ["+o.Style.Clean(s.Code)+"]")
	}
	wrapped(b, o, 0, line)
}

// VerdictRole is the role in which a verdict is shown.
func VerdictRole(verdict diagnosticsv1alpha1.PodVerdict) Role {
	switch verdict {
	case diagnosticsv1alpha1.PodBound, diagnosticsv1alpha1.PodSchedulable, diagnosticsv1alpha1.PodFinished:
		return Good
	case diagnosticsv1alpha1.PodUnschedulable:
		return Bad
	default:
		return Warn
	}
}

func podLine(p *diagnosticsv1alpha1.PodFacts, o Options) string {
	class := strings.TrimSpace(p.QoSClass + " " + p.PriorityBand)
	parts := []string{p.Namespace + "/" + p.Name}
	if p.ReservationName != "" {
		parts[0] = "reservation " + p.ReservationName
	}
	if class != "" {
		parts = append(parts, class)
	}
	if text := resourceList(p.Requests); text != "" {
		parts = append(parts, "requests "+text)
	}
	if text := resourceList(p.EstimatedUsage); text != "" {
		parts = append(parts, "estimated use "+text)
	}
	if p.SchedulerName != "" {
		parts = append(parts, "scheduler "+p.SchedulerName)
	}
	switch {
	case p.NodeName != "":
		parts = append(parts, "on "+p.NodeName)
	case p.CreatedAt != nil && p.Phase == corev1.PodPending:
		parts = append(parts, pendingFor(o.Now, p.CreatedAt))
	}
	return o.say(strings.Join(parts, "; "))
}

func pendingFor(now time.Time, created *metav1.Time) string {
	if age := Age(now, created); age != future {
		return "pending for " + age
	}
	return "pending, created in the future"
}

// resourceList names resources the way people say them: 4 cores, 8Gi memory, 2 batch-cpu. Zero amounts are left out.
func resourceList(list corev1.ResourceList) string {
	names := make([]string, 0, len(list))
	for name := range list {
		names = append(names, string(name))
	}
	slices.Sort(names)
	var parts []string
	for _, name := range names {
		quantity := list[corev1.ResourceName(name)]
		if quantity.IsZero() {
			continue
		}
		switch short := shortResource(name); {
		case name == string(corev1.ResourceCPU):
			parts = append(parts, QuantityWithUnit(quantity.MilliValue(), diagnosticsv1alpha1.MilliCPU))
		case short == "batch-cpu" || short == "mid-cpu":
			parts = append(parts, Cores(quantity.Value())+" "+short)
		case strings.HasSuffix(short, "memory") || short == "ephemeral-storage":
			parts = append(parts, Bytes(quantity.Value())+" "+short)
		case name == string(corev1.ResourcePods):
		default:
			parts = append(parts, quantity.String()+" "+short)
		}
	}
	return strings.Join(parts, ", ")
}

func refusals(w io.Writer, s *diagnosticsv1alpha1.PodExplanationStatus, o Options) error {
	if len(s.Groups) == 0 {
		return nil
	}
	title := fmt.Sprintf("%d of %s are available", s.NodesFeasible, phrase.Counted(int(s.NodesTotal), "node"))
	if s.NodesUnknown > 0 {
		title = fmt.Sprintf("%d of %s refuse the pod; %d unknown", s.NodesTotal-s.NodesFeasible-s.NodesUnknown, phrase.Counted(int(s.NodesTotal), "node"), s.NodesUnknown)
	}
	if _, err := fmt.Fprintf(w, "\n%s\n", o.Style.Paint(Header, o.say(title))); err != nil {
		return err
	}
	t := table{indent: 2, columns: []column{
		{header: "NODES", right: true}, {header: "SOLE", right: true, drop: 1}, {header: "CODE"},
		{header: "PLUGIN", drop: 3}, {header: "CLOSEST", drop: 2, flexible: 12, wide: o.Parts > 0}, {header: "REASON", flexible: 60, says: true},
	}}
	for i := range s.Groups {
		t.add(groupCells(&s.Groups[i])...)
		for n := range min(o.Parts, len(s.Groups[i].Nodes)) {
			node := &s.Groups[i].Nodes[n]
			t.add(text(""), text(""), text(""), text(""), text(""), painted(Dim, "  "+node.Node+": "+nodeMessage(node)))
		}
	}
	_, err := t.render(w, o)
	return err
}

func groupCells(g *diagnosticsv1alpha1.RefusalGroup) []cell {
	closest := ""
	if len(g.Nodes) > 0 {
		closest = g.Nodes[0].Node
	}
	message := g.Message
	if message == "" {
		message = g.Reason
	}
	return []cell{
		text(strconv.Itoa(int(g.Count))), painted(Dim, strconv.Itoa(int(g.Sole))), text(g.Code),
		text(g.Plugin), text(closest), painted(Strong, message),
	}
}

func nodeMessage(n *diagnosticsv1alpha1.NodeRefusal) string {
	if n.Others == 0 {
		return n.Message
	}
	return fmt.Sprintf("%s (and %s)", n.Message, phrase.Counted(int(n.Others), "other reason"))
}

func fix(w io.Writer, f *diagnosticsv1alpha1.Fix, o Options) error {
	if f == nil {
		return nil
	}
	unlocked := o.Style.Arrow() + " " + f.Node
	switch {
	case f.Node == "":
		unlocked += phrase.Counted(int(f.NodesUnlocked), "node")
	case f.NodesUnlocked > 1:
		unlocked += " and " + phrase.Counted(int(f.NodesUnlocked-1), "more node")
	}
	var b strings.Builder
	b.WriteString("\n" + o.Style.Paint(Header, o.say("Smallest change that helps")) + "\n")
	wrapped(&b, o, 2, o.say(f.Description))
	wrapped(&b, o, 2, o.say(unlocked)+"; "+verification(f, o))
	if f.Owner != "" {
		wrapped(&b, o, 2, o.say(InOwner(f)))
	}
	if f.Command != "" {
		b.WriteString("    " + o.Style.Clean(Called(o.Program, f.Command)) + "\n")
	}
	recreate(&b, f, o)
	rights(&b, f, o)
	_, err := io.WriteString(w, b.String())
	return err
}

// InOwner says where the change of a pod belongs that its controller recreates.
func InOwner(f *diagnosticsv1alpha1.Fix) string {
	if strings.HasPrefix(f.Owner, "Job/") {
		return fmt.Sprintf("an existing pod cannot be changed this way, nor can the pod template of %s; create the Job again with the change", f.Owner)
	}
	return fmt.Sprintf("an existing pod cannot be changed this way; change the pod template of %s", f.Owner)
}

// recreate prints the pod that is to be recreated where no controller does that.
func recreate(b *strings.Builder, f *diagnosticsv1alpha1.Fix, o Options) {
	if !f.Recreate || f.Owner != "" {
		return
	}
	wrapped(b, o, 2, o.say("an existing pod cannot be changed this way; recreate it:"))
	b.WriteString("    kubectl replace --force -f - <<'EOF'\n")
	for line := range strings.Lines(f.Manifest) {
		b.WriteString("    " + o.Style.Clean(strings.TrimRight(line, "\n")) + "\n")
	}
	b.WriteString("    EOF\n")
}

func placement(w io.Writer, p *diagnosticsv1alpha1.Placement, o Options) error {
	if p == nil {
		return nil
	}
	title := "Why " + cmp.Or(p.Node, "the node with the highest score")
	if p.Rank > 0 {
		title += fmt.Sprintf(": rank %d by score now", p.Rank)
	} else {
		title += ": it would not pass the filters now"
	}
	var b strings.Builder
	b.WriteString("\n")
	wrapped(&b, o, 0, o.Style.Paint(Header, o.say(title)))
	if p.Note != "" {
		wrapped(&b, o, 2, o.say(p.Note))
	}
	if _, err := io.WriteString(w, b.String()); err != nil || len(p.Scores) == 0 {
		return err
	}
	return scores(w, p, o)
}
