package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/cell"
)

// markActions mark rows of a table, and copy their names.
var markActions = []action{
	bind(groupView, false, "space", "mark", tableDo(func(t table) { t.Mark() }), "space"),
	bind(groupView, false, "ctrl-space", "mark up to here", tableDo(func(t table) { t.MarkRange() }), "ctrl+space", "ctrl+@"),
	bind(groupView, false, `ctrl-\`, "clear marks", tableDo(func(t table) { t.ClearMarks() }), `ctrl+\`),
	bind(groupView, false, "c", "copy name", (*Model).copyNames, "c"),
}

// copyNames puts the names of the marked rows, else of the one under the cursor, into the clipboard of the terminal, with blanks between, as arguments of kubectl. Terminals
// that do not know the sequence (OSC 52) ignore it.
func (m *Model) copyNames() tea.Cmd {
	t := m.table()
	if t == nil {
		return nil
	}
	about, ok := t.selected()
	chosen := t.marked()
	if len(chosen) == 0 && ok {
		chosen = []object{about}
	}
	var names []string
	for _, about := range chosen {
		if name := cell.Clean(about.name); name != "" {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	said := "copied " + names[0]
	if len(names) > 1 {
		said = fmt.Sprintf("copied %d names", len(names))
	}
	return tea.Batch(tea.SetClipboard(strings.Join(names, " ")), m.say(said, false))
}

// whatIfChosen asks what would be if all nodes that are marked were drained, else about the object under the cursor.
func (m *Model) whatIfChosen() tea.Cmd {
	about, ok := m.selected()
	if !ok {
		return nil
	}
	if t := m.table(); t != nil && t.Marks() > 0 && (about.kind == source.KindNode || about.kind == source.KindDevice) {
		var names []string
		for _, marked := range t.marked() {
			names = append(names, marked.name) // a Device is named after its node
		}
		return m.open(drainName, nodeObject(strings.Join(names, " ")))
	}
	return m.whatIf(about)
}
