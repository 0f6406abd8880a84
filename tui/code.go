package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/kubectl-plugin/printer"
)

// codeScreen explains a finding code: what it means, what usually causes it, and what to do. It asks nothing.
func codeScreen(m *Model) *screen {
	return &screen{
		name:     codeName,
		doc:      "One finding code: what it means, what usually causes it, and what to do",
		commands: []command{{name: "code", args: "CODE", help: "explain a finding code", complete: findingCodes, run: (*Model).commandCode}},
		crumb:    func(p *page) string { return p.about.name },
		title:    func(p *page) string { return "code " + p.about.name },
		content: func(p *page) content {
			return content{text: func(width int) []string { return m.codeText(finding.Code(p.about.name), width) }}
		},
	}
}

func (m *Model) codeText(code finding.Code, width int) []string {
	entry, _ := finding.Lookup(code) // a page is opened for a code that is in the catalogue
	return m.printed(width, func(b *strings.Builder, o printer.Options) error { return printer.Code(b, entry, o.Language, o) })
}

func (m *Model) commandCode(args string) tea.Cmd {
	code, ok := finding.ParseCode(args)
	if !ok {
		return m.say(fmt.Sprintf("code %q: must be KOORD followed by four digits", args), true)
	}
	return m.explainCode(code)
}

// explainCode opens the page of a code.
func (m *Model) explainCode(code finding.Code) tea.Cmd {
	if _, ok := finding.Lookup(code); !ok {
		return m.say(fmt.Sprintf("code %q not found", code), true)
	}
	return m.open(codeName, object{name: string(code)})
}

// findingCodes are all codes.
func findingCodes(*Model) []string {
	entries, err := finding.All()
	if err != nil {
		return nil
	}
	codes := make([]string, len(entries))
	for i := range entries {
		codes[i] = string(entries[i].Code)
	}
	return codes
}
