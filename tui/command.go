package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/tui/internal/style"
)

// command is one word of command mode.
type command struct {
	name    string
	aliases []string
	// args describes the arguments for the help; empty when there are none.
	args string
	help string
	// complete lists the arguments that exist.
	complete func(*Model) []string
	run      func(*Model, string) tea.Cmd
}

// appCommands are those that belong to no screen.
var appCommands = []command{
	{name: "theme", args: "[NAME]", help: "colours: " + strings.Join(style.Themes(), ", "), complete: func(*Model) []string { return style.Themes() }, run: (*Model).commandTheme},
	{name: "mouse", help: "turn the mouse on or off", run: (*Model).commandMouse},
	{name: "quit", aliases: []string{"q", "q!", "exit"}, help: "quit", run: func(*Model, string) tea.Cmd { return tea.Quit }},
}

// commands are those of the screens, then the others.
func (m *Model) commands() []command {
	var out []command
	for _, s := range m.screens {
		out = append(out, s.commands...)
	}
	return append(out, appCommands...)
}

// execute runs a line of command mode.
func (m *Model) execute(line string) tea.Cmd {
	name, args, _ := strings.Cut(strings.TrimSpace(line), " ")
	if name == "" {
		return nil
	}
	for _, c := range m.commands() {
		if c.name == name || slices.Contains(c.aliases, name) {
			return c.run(m, strings.TrimSpace(args))
		}
	}
	return m.say(fmt.Sprintf("unknown command %q; :help lists the commands", name), true)
}

// scopeOf divides the arguments of a list into its scope and its filter: SCOPE /FILTER or SCOPE KEY=VALUE.
func scopeOf(args string) (scope, filter string, filtered bool) {
	at := strings.Index(" "+args, " /")
	if at < 0 && !strings.Contains(args, "=") {
		at = strings.Index(args, "/")
	}
	if at >= 0 {
		return strings.TrimSpace(args[:at]), args[at+1:], true
	}
	words := strings.Fields(args)
	label := slices.IndexFunc(words, func(word string) bool { return strings.Contains(word, "=") })
	if label < 0 {
		return args, "", false
	}
	return strings.Join(words[:label], " "), "-l " + strings.Join(words[label:], " "), true
}

// filterBy applies the filter of a command.
func (m *Model) filterBy(expr string, filtered bool) tea.Cmd {
	if !filtered {
		return nil
	}
	return m.filter(m.table(), expr)
}

// commandList opens a screen with a list, with the filter that the command names.
func commandList(name string) func(*Model, string) tea.Cmd {
	return func(m *Model, args string) tea.Cmd {
		_, filter, filtered := scopeOf(args)
		return tea.Batch(m.open(name, object{}), m.filterBy(filter, filtered))
	}
}
