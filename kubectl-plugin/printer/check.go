package printer

import (
	"fmt"
	"io"
	"slices"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// CheckGroup is the checks of one category.
type CheckGroup struct {
	Name string
	Rows []CheckRow
}

// CheckRow is a check and what it found.
type CheckRow struct {
	// ID, State in one word, what was seen, and what is so when the check passes.
	ID, State, Detail, Title string
	// Role in which the state is shown.
	Role Role
	// Notes below the row.
	Notes []CheckNote
}

// CheckNote is a finding below a check.
type CheckNote struct {
	Severity                           diagnosticsv1alpha1.Severity
	Code, Message, Help, Documentation string
}

// Checks prints the checks, category by category, each with what was found below it, and the summary last.
func Checks(w io.Writer, groups []CheckGroup, summary string, o Options) error {
	for i, group := range groups {
		if err := checkGroup(w, group, i > 0, o); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, "\n"+summary+"\n")
	return err
}

func checkGroup(w io.Writer, group CheckGroup, apart bool, o Options) error {
	t := table{indent: 2, columns: []column{{header: "STATE"}, {header: "CHECK"}, {header: "DETAIL", flexible: 20, says: true}, {header: "VERIFIES", wide: true, says: true}}}
	for _, row := range group.Rows {
		t.add(styled(o.Style.Mark(row.Role)+" "+o.Style.Paint(row.Role, row.State)), text(row.ID), text(row.Detail), painted(Dim, row.Title))
	}
	var rows strings.Builder
	unheaded := o
	unheaded.NoHeaders = true
	if _, err := t.render(&rows, unheaded); err != nil {
		return err
	}
	var b strings.Builder
	if apart {
		b.WriteString("\n")
	}
	b.WriteString(o.Style.Paint(Header, o.say(group.Name)) + "\n")
	for i, line := range slices.Collect(strings.Lines(rows.String())) {
		b.WriteString(line)
		for _, note := range group.Rows[i].Notes {
			note.write(&b, o)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (n CheckNote) write(b *strings.Builder, o Options) {
	wrapped(b, o, 6, o.Style.Paint(SeverityRole(n.Severity), o.Style.Clean(string(n.Severity)))+" "+o.Style.Clean(n.Code)+" "+o.say(n.Message))
	if n.Help != "" {
		wrapped(b, o, 8, o.Style.Paint(Dim, o.label("hint"))+Called(o.Program, o.say(n.Help)))
	}
	if n.Documentation != "" {
		wrapped(b, o, 8, o.Style.Paint(Dim, o.say("see")+" ")+Called(o.Program, o.say("koordctl why "+n.Code+" or "+n.Documentation)))
	}
}

// ShortChecks prints a line for each finding of a check that did not pass, and for each check that has none to say why.
func ShortChecks(w io.Writer, groups []CheckGroup, o Options) error {
	var b strings.Builder
	for _, group := range groups {
		for _, row := range group.Rows {
			head := o.Style.Mark(row.Role) + " " + o.Style.Paint(row.Role, row.State) + " " + o.Style.Clean(group.Name+"/"+row.ID)
			if len(row.Notes) == 0 {
				b.WriteString(head + ": " + o.say(row.Detail) + "\n")
			}
			for _, note := range row.Notes {
				b.WriteString(head + ": " + o.Style.Clean(note.Code) + " " + o.say(note.Message) + "\n")
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// FeatureRow is how a feature of the agents stands on the nodes.
type FeatureRow struct {
	Name                                             string
	Nodes, Enabled, Configured, Supported, Effective int
	// Known counts the nodes of which it is known whether they support it.
	Known int
	// Gaps say why nodes do not support it.
	Gaps string
}

// FeatureMatrix prints on how many of the nodes each feature is enabled, configured, supported and in effect.
func FeatureMatrix(w io.Writer, rows []FeatureRow, o Options) error {
	if len(rows) == 0 {
		return nil
	}
	if err := title(w, "Features of the nodes", o); err != nil {
		return err
	}
	t := table{indent: 2, columns: []column{
		{header: "FEATURE"}, {header: "ENABLED", right: true}, {header: "CONFIGURED", right: true}, {header: "SUPPORTED", right: true},
		{header: "EFFECTIVE", right: true}, {header: "UNSUPPORTED", flexible: 20, drop: 1},
	}}
	for _, row := range rows {
		supported := text(outOf(row.Supported, row.Known))
		switch {
		case row.Known == 0:
			supported = painted(Dim, unknown)
		case row.Gaps != "":
			supported.role = Warn
		}
		t.add(text(row.Name), text(outOf(row.Enabled, row.Nodes)), text(outOf(row.Configured, row.Nodes)), supported,
			text(outOf(row.Effective, row.Nodes)), painted(Dim, orNone(row.Gaps)))
	}
	_, err := t.render(w, o)
	return err
}

func outOf(n, total int) string { return fmt.Sprintf("%d/%d", n, total) }
