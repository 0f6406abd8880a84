package tui

import (
	"fmt"
	"strings"

	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/tui/internal/cell"
)

// drainAnswer is the number of lines that the answer has at most, above the tabs.
const drainAnswer = 3

// drawHead is the verdict with the command, the answer, the tabs and a blank.
func (d *drain) drawHead(width int) []string {
	f := d.pods.value
	if f == nil {
		return []string{""}
	}
	mark, text := roleStyle(printer.DrainRole(f.Verdict), d.st)
	lines := []string{d.heading(text.Render(mark+" "+cell.Clean(string(f.Verdict))), f.Command, "", width)}
	lines = append(lines, d.headText(f.Message, drainAnswer, width)...)
	return append(lines, cell.Spread(d.drawTabs(d.tabNames()), d.st.Faint.Render(nothingChanged)+" ", width, d.st.Ellipsis), "")
}

// tabNames are the tabs, that of the pods with their number.
func (d *drain) tabNames() []string {
	return []string{fmt.Sprintf("pods(%d)", d.pods.table.Total()), "cluster"}
}

// effectsText is what the drain does apart from where each pod goes, as the command line prints it, and what the forecast assumes.
func (d *drain) effectsText(width int) []string {
	head := d.drawHead(width)
	lines := append(head[:len(head)-1], d.printed(width, func(b *strings.Builder, options printer.Options) error {
		return printer.DrainEffects(b, d.pods.value, options)
	})...)
	for _, note := range d.pods.value.Notes {
		lines = append(lines, d.sentence(note, width)...)
	}
	return lines
}
