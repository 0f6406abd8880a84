package tui

import (
	"context"
	"errors"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/phrase"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/proposal"
)

// unappliable says why the plan of a page cannot be written; empty where it can.
func (c *changes) unappliable(p *page) string {
	plan := c.plan.value
	switch why := c.withheld(p); {
	case why != "":
		return why
	case c.plan.question != p.about.name || !c.plan.known || c.plan.busy:
		return "the plan is not made yet"
	case c.plan.err != nil:
		return "it could not be planned again; ctrl-r tries once more"
	case len(plan.Change.Rejected(plan.Found)) > 0:
		return "the new configuration has errors"
	case unchanged(plan):
		return "there is nothing to write"
	case c.failed == plan:
		return "it could not be written; ctrl-r plans again"
	case c.writing:
		return "a change is being written"
	}
	return ""
}

// apply asks before it writes the plan of the page.
func (c *changes) apply(*Model) tea.Cmd {
	plan, name := c.plan.value, c.page().about.name
	question := fmt.Sprintf("Write this? %d of %s affected", plan.Summary.NodesAffected, phrase.Counted(plan.Summary.Nodes, "node"))
	if evicted := plan.Evictions(); evicted > 0 {
		question = fmt.Sprintf("Write this? %d of %s affected, %s evicted immediately", plan.Summary.NodesAffected,
			phrase.Counted(plan.Summary.Nodes, "node"), phrase.Counted(evicted, "pod"))
	}
	c.confirm(request{
		lead: question, verb: "write",
		yes: func() tea.Cmd { return c.write(plan, name) },
		no:  func() tea.Cmd { return c.say("nothing was written", false) },
	})
	return nil
}

// write writes over the version that was planned on.
func (c *changes) write(plan *proposal.Plan, name string) tea.Cmd {
	configurator, err := offered[source.Configurator](c.source, "write the configuration")
	if err != nil {
		return c.say(err.Error(), true)
	}
	c.writing = true
	change, user := plan.Change, c.cluster.value.User
	change.Cause = c.called("koordctl tui") + " " + name
	ctx, cancel := context.WithTimeout(c.ctx, askTimeout)
	return tea.Batch(c.say(fmt.Sprintf("writing %s", change.Subject()), false), func() tea.Msg {
		defer cancel()
		stored, err := proposal.Write(ctx, configurator, change, proposal.Options{User: user})
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil {
			err = fmt.Errorf("no response within %s, so that it is not known whether %s was written: %w", askTimeout, change.Subject(), err)
		}
		return written{changes: c, plan: plan, result: stored, err: err}
	})
}

// written is what became of a change.
type written struct {
	*changes
	plan   *proposal.Plan
	result *proposal.Written
	err    error
}

// conclude returns to the list, which is asked for anew. Where nothing was written the plan stays, and says why.
func (w written) conclude() tea.Cmd {
	w.writing = false
	if w.err != nil {
		return w.refused()
	}
	text, bad := fmt.Sprintf("%s configured", w.plan.Change.Subject()), w.result.Unkept != nil
	switch {
	case bad:
		text = w.result.Unkept.Error()
	case w.result.Revision > 0:
		text = fmt.Sprintf("%s configured (revision %d)", w.plan.Change.Subject(), w.result.Revision)
	}
	var cmd tea.Cmd
	if w.shown() {
		cmd = w.toList()
	}
	return tea.Batch(cmd, w.say(text, bad))
}

// shown is true while the page on top is that of the plan.
func (w written) shown() bool {
	return w.page().screen.name == planName && w.changes.plan.value == w.plan
}

// refused keeps the error with its plan. A configuration that was modified since can be planned on again.
func (w written) refused() tea.Cmd {
	w.failed, w.changes.err = w.plan, w.err
	coded, ok := finding.From(w.err)
	if !ok || coded.Code != finding.ConfigChanged || !w.shown() || w.prompt.mode != promptOff {
		return w.say(w.err.Error(), true)
	}
	w.confirm(request{
		lead: "It was modified since, and nothing was written. Plan again?", verb: "plan again",
		yes: w.refresh, no: func() tea.Cmd { return nil },
	})
	return nil
}

// toList goes back to the list of the configuration, which asks again.
func (c *changes) toList() tea.Cmd {
	for len(c.pages) > 1 && c.page().screen.name != configName {
		c.leave()
	}
	c.forced = true
	cmd := c.Model.open(configName, object{})
	c.forced = false
	return cmd
}

// errorText is an error with what to do about it.
func (c *changes) errorText(err error, width int) []string {
	var lines []string
	for _, line := range c.st.Wrap(c.st.Say(err.Error()), max(width-6, 20)) {
		lines = append(lines, "   "+c.st.Bad.Render(line))
	}
	if f, ok := finding.From(err); ok {
		if f.Hint != "" {
			lines = append(lines, c.sentence("hint: "+c.called(f.Hint), width)[1:]...)
		}
		lines = append(lines, "   "+c.st.Dim.Render(string(f.Code)))
	}
	return append([]string{""}, lines...)
}
