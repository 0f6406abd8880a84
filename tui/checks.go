package tui

import (
	"context"
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/kubectl-plugin/printer"
)

// Checks are what checks of the installation found, as the command line prints it.
type Checks struct {
	// Groups of all checks, by category, and Features of the nodes.
	Groups   []printer.CheckGroup
	Features []printer.FeatureRow
	// Summary counts them in one line.
	Summary string
	// Incomplete names what could not be read, and why.
	Incomplete []string
}

// checks shows what is wrong with the installation.
type checks struct {
	*Model
	answer feed[*Checks]
}

// checksScreen shows what checks of the installation found.
func checksScreen(m *Model) *screen {
	c := &checks{Model: m}
	return &screen{
		name: checksName,
		doc: "What is wrong with the installation, and what to do about it: versions, rights, certificates, webhooks, agents, kernels and the " +
			"configuration. The cluster is asked once, again with `ctrl-r`",
		commands: []command{{name: "checks", aliases: []string{"check"}, help: "check the installation", run: func(m *Model, _ string) tea.Cmd {
			return m.open(checksName, object{})
		}}},
		keys: []action{bind(groupView, true, "enter", "all checks", func(m *Model) tea.Cmd {
			m.page().unfolded = !m.page().unfolded
			return nil
		}, "enter")},
		ask: func(*page) tea.Cmd { return askWithin(m, &c.answer, askOnceTimeout, "checks", m.checkInstallation) },
		content: func(*page) content {
			shown := content{feed: &c.answer.feedState, text: c.text}
			if c.answer.known {
				shown.incomplete = c.answer.value.Incomplete
			}
			return shown
		},
		once: true,
	}
}

// checkInstallation runs the checks.
func (m *Model) checkInstallation(ctx context.Context) (*Checks, error) {
	if m.check == nil {
		return nil, errors.New("check the installation: not available from this source")
	}
	return m.check(ctx)
}

// text is the checks that somebody should look at, or all.
func (c *checks) text(width int) []string {
	found := c.answer.value
	groups := found.Groups
	if !c.page().unfolded {
		groups = troubled(groups)
	}
	lines := c.printed(width, func(b *strings.Builder, o printer.Options) error {
		if err := printer.Checks(b, groups, found.Summary, o); err != nil {
			return err
		}
		return printer.FeatureMatrix(b, found.Features, o)
	})
	if len(groups) == 0 {
		lines = append([]string{" " + c.st.OK.Render(c.st.Check+" nothing is wrong")}, lines...)
	}
	return lines
}

// troubled are the checks that neither passed nor were skipped, by category.
func troubled(groups []printer.CheckGroup) []printer.CheckGroup {
	quiet := func(r printer.CheckRow) bool { return r.Role == printer.Good || r.Role == printer.Dim }
	var out []printer.CheckGroup
	for _, group := range groups {
		group.Rows = slices.DeleteFunc(slices.Clone(group.Rows), quiet)
		if len(group.Rows) > 0 {
			out = append(out, group)
		}
	}
	return out
}
