package grid

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	gocmp "github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/tui/internal/style"
)

// town has a name, a reason that stands in place of its numbers, and numbers of which the last is drawn as a bar too.
type town struct{ name, reason string }

func newTowns(rows ...town) *Table[town] {
	constant := func(text string) func(*town, int, *style.Set) string {
		return func(_ *town, width int, _ *style.Set) string { return strings.Repeat(text, width)[:max(width, 0)] }
	}
	t := New([]Column[town]{
		{Title: "PART", Width: 4, Cell: constant("p")},
		{Title: "NAME", Width: 6, Max: 12, Text: func(r *town) string { return r.name },
			Cell: func(r *town, _ int, _ *style.Set) string { return r.name }},
		{Title: "USE", Width: 4, Cell: constant("1")},
		{Title: "BAR", Width: 5, Grow: 1, Drop: 2, Cell: constant("=")},
		{Title: "AGE", Width: 3, Drop: 1, Cell: constant("2")},
	}, func(r *town) string { return r.name }, func(r *town) string { return r.name }, func(*town) bool { return false })
	t.SetSpan(Span[town]{
		After: func(*town) []string { return []string{"USE", "NAME"} }, Room: 8,
		Text: func(r *town, _ int) string { return r.reason },
	})
	t.SetRows(rows)
	return t
}

func TestNarrowTablesKeepWhatInforms(t *testing.T) {
	st := style.New(style.Appearance{ASCII: true})
	for name, tc := range map[string]struct {
		width int
		hide  string
		rows  []town
		want  []string
	}{
		"all fit, and the bar grows": {32, "", []town{{"ulm", ""}}, []string{
			" PART NAME  USE  BAR        AGE", " pppp ulm   1111 ========== 222"}},
		"the bar goes first": {22, "", []town{{"ulm", ""}}, []string{
			" PART NAME  USE  AGE", " pppp ulm   1111 222"}},
		"then the age, and the name stays whole": {24, "", []town{{"heidelberg", ""}}, []string{
			" PART NAME       USE", " pppp heidelberg 1111"}},
		"what was dropped comes back where it fits": {26, "", []town{{"heidelberg", ""}}, []string{
			" PART NAME       USE  AGE", " pppp heidelberg 1111 222"}},
		"the name is cut last": {19, "", []town{{"heidelberg", ""}}, []string{
			" PART NAME    USE", " pppp heidel~ 1111"}},
		"a hidden column gives its room": {19, "PART", []town{{"heidelberg", ""}}, []string{
			" NAME       USE", " heidelberg 1111"}},
		"a reason stands behind the use where it has room": {32, "", []town{{"ulm", "no road"}}, []string{
			" PART NAME  USE  BAR        AGE", " pppp ulm   1111 no road"}},
		"and in place of it where not": {22, "", []town{{"ulm", "no road leads"}, {"bonn", ""}}, []string{
			" PART NAME  USE  AGE", " pppp ulm   no road ~", " pppp bonn  1111 222"}},
	} {
		t.Run(name, func(t *testing.T) {
			table := newTowns(tc.rows...)
			if tc.hide != "" {
				table.Hide(tc.hide, true)
			}
			table.SetSize(tc.width, 5)
			got := table.Draw(tc.width, 6, false, st)
			for i := range got {
				got[i] = strings.TrimRight(ansi.Strip(got[i]), " ")
			}
			if diff := gocmp.Diff(tc.want, got); diff != "" {
				t.Errorf("unexpected table (-want +got):\n%s", diff)
			}
		})
	}
}
