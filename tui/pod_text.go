package tui

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/tui/internal/bar"
	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/quantity"
	"koordinator.sh/koord/tui/internal/style"
)

// podText is the explanation of a pod: verdict, reasons, the fix, preemption, or the scores of its placement.
func (d *pod) podText(width int) []string {
	st, status := d.st, &d.explanation.value.Status
	glyph, text := verdictMark(status.Verdict, st)
	verdict := " " + text.Render(glyph+" "+string(status.Verdict))
	if status.Code != "" {
		verdict += "  " + st.Dim.Render(cell.Clean(status.Code))
	}
	lines := []string{verdict}
	for _, line := range d.st.Wrap(d.st.Say(status.Summary), min(width-4, 120)) {
		lines = append(lines, "   "+st.Bold.Render(line))
	}
	lines = append(lines, d.podFacts(&status.Pod, width)...)
	lines = append(lines, d.sentence(printer.HintInShort(status.Pod.Hint), width)...)
	lines = append(lines, d.groupsText(status, width)...)
	lines = append(lines, d.fixText(status.Fix, width)...)
	lines = append(lines, d.sentence(printer.BeyondRights(status), width)...)
	lines = append(lines, d.preemptionText(status.Preemption, width)...)
	lines = append(lines, d.placementText(status.Placement, width)...)
	lines = append(lines, d.findingsText(status.Findings, width)...)
	lines = append(lines, d.sentence(printer.Withheld(status.Withheld), width)...)
	return append(lines, "", d.originText(status.Origin))
}

func verdictMark(v diagnostics.PodVerdict, st *style.Set) (string, style.Style) {
	switch v {
	case diagnostics.PodBound, diagnostics.PodSchedulable, diagnostics.PodFinished:
		return st.Check, st.OK
	case diagnostics.PodUnschedulable:
		return st.Cross, st.Bad
	}
	return st.Half, st.Warn
}

// podFacts is what the scheduler saw of the pod, in one or two lines.
func (d *pod) podFacts(p *diagnostics.PodFacts, width int) []string {
	st := d.st
	var facts []string
	add := func(name, value string) {
		if value != "" && value != quantity.None {
			facts = append(facts, st.Dim.Render(st.Say(name)+" ")+st.Plain.Render(cell.Clean(value)))
		}
	}
	add("phase", string(p.Phase))
	add("qos", p.QoSClass)
	add("band", p.PriorityBand)
	if p.Priority != nil {
		add("priority", quantity.Count(int64(*p.Priority)))
	}
	add("node", p.NodeName)
	add("age", ageOf(p.CreatedAt, d.clock.Now()))
	add("scheduler", p.SchedulerName)
	for _, name := range sortedNames(p.Requests) {
		add("requests "+string(name), amountText(name, p.Requests[name]))
	}
	for _, name := range sortedNames(p.EstimatedUsage) {
		add("estimated "+string(name), amountText(name, p.EstimatedUsage[name]))
	}
	return append([]string{""}, flow(facts, width-3, "   ")...)
}

// amountText is an amount in the unit people think in: cores, also where the resource counts thousandths, or bytes.
func amountText(name corev1.ResourceName, q resource.Quantity) string {
	switch {
	case name == corev1.ResourceCPU:
		return quantity.Cores(q.MilliValue())
	case name == extension.BatchCPU || name == extension.MidCPU:
		return quantity.Cores(q.Value())
	case strings.HasSuffix(string(name), string(corev1.ResourceMemory)):
		return quantity.Bytes(q.Value())
	}
	return q.String()
}

// flow lays items out in lines, two cells apart.
func flow(items []string, width int, indent string) []string {
	var lines []string
	line, used := "", 0
	for _, item := range items {
		w := cell.Width(item)
		if used > 0 && used+2+w > width {
			lines = append(lines, indent+line)
			line, used = "", 0
		}
		if used > 0 {
			line, used = line+"  ", used+2
		}
		line, used = line+item, used+w
	}
	if used > 0 {
		lines = append(lines, indent+line)
	}
	return lines
}

// nodesText counts the nodes that would take a pod, as the command line does.
func nodesText(status *diagnostics.PodExplanationStatus) string {
	total := plural(int(status.NodesTotal), "node")
	if status.NodesUnknown > 0 {
		return fmt.Sprintf("%d of %s refuse the pod; %d unknown", status.NodesTotal-status.NodesFeasible-status.NodesUnknown, total, status.NodesUnknown)
	}
	return fmt.Sprintf("%d of %s are available", status.NodesFeasible, total)
}

// fixText is the smallest change that helps, and whether that was checked.
func (d *pod) fixText(fix *diagnostics.Fix, width int) []string {
	st := d.st
	if fix == nil {
		return nil
	}
	mark := st.Warn.Render(st.Unknown + " " + st.Say("not verified"))
	if fix.Verified {
		mark = st.OK.Render(st.Check + " " + st.Say("verified by replay"))
	}
	lines := []string{"", "  " + st.Title.Render(st.Say("smallest fix")) + "   " + mark}
	for _, line := range st.Wrap(st.Say(fix.Description), min(width-6, 116)) {
		lines = append(lines, "   "+st.Bold.Render(line))
	}
	who := "change of the cluster"
	if fix.Target == diagnostics.FixPod {
		who = "change of the pod"
	}
	opens := fmt.Sprintf("%s, makes %s available", who, plural(int(fix.NodesUnlocked), "node"))
	if fix.Node != "" {
		opens += fmt.Sprintf(", %s first", fix.Node)
	}
	for _, line := range st.Wrap(st.Say(opens), min(width-6, 116)) {
		lines = append(lines, "   "+st.Dim.Render(line))
	}
	return append(lines, d.fixHowText(fix, width)...)
}

// fixHowText is how a fix is made: by the owner of the pod, by creating the pod again, or by a command.
func (d *pod) fixHowText(fix *diagnostics.Fix, width int) []string {
	var lines []string
	if fix.Recreate {
		how := d.called("an existing pod cannot be changed this way; recreate it: koordctl explain pod prints the manifest")
		if fix.Owner != "" {
			how = cell.Clean(printer.InOwner(fix))
		}
		for _, line := range d.st.Wrap(d.st.Say(how), min(width-6, 116)) {
			lines = append(lines, "   "+d.st.Dim.Render(line))
		}
	}
	if fix.Command == "" {
		return lines
	}
	lead := "   $ "
	for _, line := range cell.Wrap(d.called(fix.Command), max(width-7, 20)) {
		lines = append(lines, d.st.Accent.Render(lead+line))
		lead = "     "
	}
	return lines
}

// placementText is the scores of the pod's node and of the runners-up.
func (d *pod) placementText(p *diagnostics.Placement, width int) []string {
	st := d.st
	if p == nil {
		return nil
	}
	rank := "would be filtered out now"
	if p.Rank > 0 {
		rank = fmt.Sprintf("rank %d now", p.Rank)
	}
	lines := []string{"", "  " + st.Title.Render(st.Say("why "+cell.Clean(cmp.Or(p.Node, "the node with the highest score")))) + "   " + st.Dim.Render(st.Say(rank))}
	for _, line := range st.Wrap(st.Say(p.Note), max(width-6, 20)) {
		if line != "" {
			lines = append(lines, "   "+st.Dim.Render(line))
		}
	}
	var best int64
	name := 20
	for _, s := range p.Scores {
		best, name = max(best, s.Total), max(name, cell.Width(cell.Clean(s.Node)))
	}
	name = min(name, max(width-scoreWidth-gaugeWidth(width), 20))
	lines = append(lines, "")
	for _, s := range p.Scores {
		lines = append(lines, d.scoreText(&s, best, s.Node == p.Node, name, width)...)
	}
	return lines
}

// scoreWidth is what a line of a score takes beside the name and the gauge: the mark, the score and the space between.
const scoreWidth = 3 + 6 + 2 + 1

// gaugeWidth is the room of the gauge of a score.
func gaugeWidth(width int) int { return min(max(width/5, 8), 30) }

// scoreText is the score of a node: its name in a column of some width, its total, and the shares of the plugins.
func (d *pod) scoreText(s *diagnostics.NodeScore, best int64, chosen bool, name, width int) []string {
	st, text, mark := d.st, d.st.Plain, " "
	if chosen {
		text, mark = st.Bold, st.Arrow
	}
	line := " " + st.Accent.Render(mark) + " " + text.Render(cell.Left(cell.Clean(s.Node), name, st.Ellipsis)) +
		text.Render(cell.Right(quantity.Count(s.Total), 6, "")) + "  " + bar.Gauge(s.Total, best, gaugeWidth(width), st.Info, st.Faint, st)
	var shares []string
	for _, p := range s.Plugins {
		shares = append(shares, fmt.Sprintf("%s %d", cell.Clean(p.Plugin), p.Score))
	}
	share := strings.Join(shares, ", ")
	if cell.Width(line)+2+cell.Width(share) <= width-1 {
		return []string{line + "  " + st.Dim.Render(share)}
	}
	lines := []string{line}
	for _, part := range cell.Wrap(share, max(width-6, 20)) {
		lines = append(lines, "     "+st.Dim.Render(part))
	}
	return lines
}
