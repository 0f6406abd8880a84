package tui

import (
	"fmt"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/quantity"
)

// listedVictims bounds the victims that are listed; the unfolded page lists them all.
const listedVictims = 5

// preemptionText is what evicting pods of lower priority would do: the victims, and on the unfolded page what keeps nodes from
// passing even without them.
func (d *pod) preemptionText(p *diagnostics.Preemption, width int) []string {
	st := d.st
	if p == nil || !printer.PreemptionMatters(p) && !d.page().unfolded {
		return nil
	}
	mark := st.Warn.Render(st.Half + " " + cell.Clean(string(p.Verdict)))
	if p.Verdict == diagnostics.PreemptionEvicts {
		mark = st.OK.Render(st.Check + " " + cell.Clean(string(p.Verdict)))
	}
	lines := []string{"", "  " + st.Title.Render(st.Say("preemption")) + "   " + mark}
	for _, line := range st.Wrap(st.Say(p.Message), min(width-6, 116)) {
		lines = append(lines, "   "+st.Bold.Render(line))
	}
	for _, declined := range p.Declined {
		for _, line := range st.Wrap(st.Say(declined.Plugin+" evicts no pods: "+declined.Message), min(width-6, 116)) {
			lines = append(lines, "   "+st.Dim.Render(line))
		}
	}
	lines = append(lines, d.victimsText(p.Victims, width)...)
	if len(p.Victims) == 0 || d.page().unfolded {
		lines = append(lines, d.stillRefusedText(p.Refusals, width)...)
	}
	return lines
}

// victimsText lists the pods that would be evicted, the most important first.
func (d *pod) victimsText(victims []diagnostics.PreemptionVictim, width int) []string {
	st := d.st
	if len(victims) == 0 {
		return nil
	}
	shown := victims
	if !d.page().unfolded {
		shown = victims[:min(listedVictims, len(victims))]
	}
	lines := []string{"", st.Dim.Render("   " + cell.Right(st.Say("PRIORITY"), 11, "") + "  " + st.Say("VICTIM"))}
	for i := range shown {
		line := "   " + st.Plain.Render(cell.Right(quantity.Count(int64(shown[i].Priority)), 11, "")+"  "+cell.Clean(printer.VictimName(&shown[i])))
		lines = append(lines, cell.Truncate(line, width, st.Ellipsis))
	}
	if more := len(victims) - len(shown); more > 0 {
		lines = append(lines, cell.Blank(3+11+2)+st.Faint.Render(st.Say("and "+plural(more, "more pod"))))
	}
	return lines
}

// stillRefusedText lists what refuses nodes also without the pods that may be evicted.
func (d *pod) stillRefusedText(refusals []diagnostics.PreemptionRefusal, width int) []string {
	st := d.st
	if len(refusals) == 0 {
		return nil
	}
	const indent = 3 + 6 + 2
	lines := []string{"", st.Dim.Render("   " + cell.Right(st.Say("NODES"), 6, "") + "  " + st.Say("STILL REFUSED"))}
	for i := range refusals {
		r := &refusals[i]
		text := st.Say(r.Reason)
		if r.Plugin != "" {
			text = fmt.Sprintf("%s %s: %s", r.Plugin, r.Code, text)
		}
		lead := "   " + st.Bold.Render(cell.Right(quantity.Count(int64(r.Count)), 6, "")) + "  "
		for _, line := range cell.Wrap(text, max(width-indent-2, 20)) {
			lines = append(lines, lead+st.Plain.Render(line))
			lead = cell.Blank(indent)
		}
	}
	return lines
}
