package grid

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/style"
)

type city struct {
	name string
	size int
}

func newCities(rows ...city) *Table[city] {
	t := New([]Column[city]{
		{Title: "NAME", Width: 8, Grow: 1, Compare: func(a, b *city) int { return strings.Compare(a.name, b.name) },
			Cell: func(r *city, _ int, st *style.Set) string { return st.Plain.Render(r.name) }},
		{Title: "SIZE", Width: 5, Right: true, Drop: 1, Compare: func(a, b *city) int { return cmp.Compare(a.size, b.size) },
			Cell: func(r *city, _ int, st *style.Set) string { return st.Plain.Render(fmt.Sprint(r.size)) }},
	}, func(r *city) string { return r.name }, func(r *city) string { return r.name }, func(r *city) bool { return r.size > 5 })
	t.SetSize(40, 3)
	t.SetRows(rows)
	return t
}

func names(t *Table[city]) string {
	var out []string
	for _, i := range t.visible {
		out = append(out, t.all[i].name)
	}
	return strings.Join(out, " ")
}

func TestArrangement(t *testing.T) {
	cities := []city{{"ulm", 3}, {"bonn", 7}, {"kiel", 5}, {"rom", 9}}
	for name, tc := range map[string]struct {
		do   func(*Table[city])
		want string
	}{
		"by name at first":              {func(*Table[city]) {}, "bonn kiel rom ulm"},
		"largest first":                 {func(t *Table[city]) { t.SortBy("SIZE", true) }, "rom bonn kiel ulm"},
		"again reverses":                {func(t *Table[city]) { t.SortBy("SIZE", true); t.SortBy("SIZE", true) }, "ulm kiel bonn rom"},
		"an unknown column is ignored":  {func(t *Table[city]) { t.SortBy("NO", true) }, "bonn kiel rom ulm"},
		"filter in any case":            {func(t *Table[city]) { _ = t.SetFilter("^(U|R)") }, "rom ulm"},
		"inverse filter":                {func(t *Table[city]) { _ = t.SetFilter("!o") }, "kiel ulm"},
		"a lone ! filters nothing":      {func(t *Table[city]) { _ = t.SetFilter("!") }, "bonn kiel rom ulm"},
		"a bad filter changes nothing":  {func(t *Table[city]) { _ = t.SetFilter("ulm"); _ = t.SetFilter("(") }, "ulm"},
		"fuzzy letters in order":        {func(t *Table[city]) { _ = t.SetFilter("-f  B N") }, "bonn"},
		"a lone -f filters nothing":     {func(t *Table[city]) { _ = t.SetFilter("-f") }, "bonn kiel rom ulm"},
		"a word that begins with -f":    {func(t *Table[city]) { _ = t.SetFilter("-fonn|rom") }, "rom"},
		"a selector keeps none unasked": {func(t *Table[city]) { _ = t.SetFilter("-l a=b") }, ""},
		"a selector keeps the admitted": {func(t *Table[city]) { _ = t.SetFilter("-l a=b"); t.Admit(map[string]bool{"rom": true}) }, "rom"},
		"another one forgets them": {func(t *Table[city]) {
			_ = t.SetFilter("-l a=b")
			t.Admit(map[string]bool{"rom": true})
			_ = t.SetFilter("-l a=c")
		}, ""},
		"a lone -l filters nothing":     {func(t *Table[city]) { _ = t.SetFilter("-l") }, "bonn kiel rom ulm"},
		"half a selector is no filter":  {func(t *Table[city]) { _ = t.SetFilter("ulm"); _ = t.SetFilter("-l a in (") }, "ulm"},
		"by the marked column":          {func(t *Table[city]) { t.Choose(1); t.SortByChosen() }, "rom bonn kiel ulm"},
		"the mark stops at the end":     {func(t *Table[city]) { t.Choose(1); t.Choose(1); t.Choose(-1); t.SortByChosen() }, "ulm rom kiel bonn"},
		"without a mark it reverses":    {func(t *Table[city]) { t.SortByChosen() }, "ulm rom kiel bonn"},
		"a column that is not shown":    {func(t *Table[city]) { t.SetSize(12, 3); t.Choose(1); t.SortByChosen() }, "ulm rom kiel bonn"},
		"problems only, then all again": {func(t *Table[city]) { t.ToggleProblems() }, "bonn rom"},
	} {
		t.Run(name, func(t *testing.T) {
			table := newCities(cities...)
			tc.do(table)
			if diff := gocmp.Diff(tc.want, names(table)); diff != "" {
				t.Errorf("unexpected rows (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCursorStaysOnItsRow(t *testing.T) {
	table := newCities(city{"ulm", 3}, city{"bonn", 7}, city{"kiel", 5})
	table.Move(1)
	table.SetRows([]city{{"aue", 1}, {"bonn", 7}, {"kiel", 5}, {"rom", 9}})
	if got := table.Selected().name; got != "kiel" {
		t.Errorf("cursor on %q after a refresh, want kiel", got)
	}
	table.SortBy("SIZE", true)
	if got := table.Selected().name; got != "rom" {
		t.Errorf("cursor on %q after sorting, want the first", got)
	}
	table.SetRows(nil)
	if table.Selected() != nil {
		t.Error("a row is selected in an empty table")
	}
}

// TestTheCursorGoesBackToItsRow once a row is visible again, unless the rows were sorted: then what comes first is wanted.
func TestTheCursorGoesBackToItsRow(t *testing.T) {
	cities := []city{{"aue", 1}, {"bonn", 7}, {"kiel", 5}}
	for name, tc := range map[string]struct {
		do   func(*Table[city])
		want string
	}{
		"a filter matched none":         {func(t *Table[city]) { _ = t.SetFilter("zzz"); _ = t.SetFilter("") }, "kiel"},
		"the labels were not known":     {func(t *Table[city]) { _ = t.SetFilter("-l a=b"); t.Admit(map[string]bool{"bonn": true, "kiel": true}) }, "kiel"},
		"the labels select another row": {func(t *Table[city]) { _ = t.SetFilter("-l a=b"); t.Admit(map[string]bool{"bonn": true}) }, "bonn"},
		"the rows were gone":            {func(t *Table[city]) { t.SetRows(nil); t.SetRows(cities) }, "kiel"},
		"it came back later than others": {func(t *Table[city]) {
			t.SetRows(nil)
			t.SetRows(cities[:2])
			t.SetRows(cities)
		}, "aue"},
		"no row was a problem": {func(t *Table[city]) {
			t.SetRows([]city{{"kiel", 5}})
			t.ToggleProblems()
			t.SetRows(cities)
			t.ToggleProblems()
		}, "bonn"},
		"sorted while none was":  {func(t *Table[city]) { t.SetRows(nil); t.SortBy("SIZE", true); t.SetRows(cities) }, "bonn"},
		"moved while none was":   {func(t *Table[city]) { t.SetRows(nil); t.Move(-1); t.SetRows(cities) }, "kiel"},
		"another row was chosen": {func(t *Table[city]) { t.SetRows(nil); t.SetRows(cities); t.Move(-1); t.SetRows(cities) }, "bonn"},
	} {
		t.Run(name, func(t *testing.T) {
			table := newCities(cities...)
			table.Select("kiel")
			tc.do(table)
			if got := table.Selected().name; got != tc.want {
				t.Errorf("the cursor is on %s, want %s", got, tc.want)
			}
		})
	}
}

func TestTheCursorIsAlwaysSeen(t *testing.T) {
	rows := make([]city, 50)
	for i := range rows {
		rows[i] = city{name: fmt.Sprintf("city-%02d", i), size: i}
	}
	table, st := newCities(rows...), style.New(style.Appearance{ASCII: true})
	rapid.Check(t, func(t *rapid.T) {
		height := rapid.IntRange(1, 9).Draw(t, "height")
		table.SetSize(40, height)
		table.Move(rapid.IntRange(-60, 60).Draw(t, "move"))
		text := strings.Join(table.Draw(40, height+1, true, st), "\n")
		if want := table.Selected().name; !strings.Contains(text, want) {
			t.Fatalf("the cursor is on %s, seen is\n%s", want, text)
		}
	})
}

func TestDrawKeepsItsSize(t *testing.T) {
	st := style.New(style.Appearance{})
	rapid.Check(t, func(t *rapid.T) {
		rows := make([]city, rapid.IntRange(0, 40).Draw(t, "rows"))
		for i := range rows {
			rows[i] = city{name: rapid.String().Draw(t, "name"), size: i}
		}
		table := newCities(rows...)
		width, height := rapid.IntRange(-1, 60).Draw(t, "width"), rapid.IntRange(-1, 12).Draw(t, "height")
		table.SetSize(width, height-1)
		table.Move(rapid.IntRange(-50, 50).Draw(t, "move"))
		lines := table.Draw(width, height, true, st)
		if len(lines) > max(height, 0) {
			t.Fatalf("%d lines in a height of %d", len(lines), height)
		}
		for _, line := range lines {
			if cell.Width(line) > width {
				t.Fatalf("line %q is wider than %d", line, width)
			}
		}
	})
}

func TestClicksFindTheRowThatIsDrawn(t *testing.T) {
	table := newCities(city{"aue", 1}, city{"bonn", 2}, city{"kiel", 3}, city{"rom", 4}, city{"ulm", 5})
	table.Move(4) // three rows are seen: kiel, rom, ulm
	for line, want := range map[int]string{1: "kiel", 2: "rom", 3: "ulm"} {
		if !table.At(line) || table.Selected().name != want {
			t.Errorf("line %d is %s, want %s", line, table.Selected().name, want)
		}
	}
	for _, line := range []int{-1, 0, 4, 99} {
		if table.At(line) {
			t.Errorf("line %d is no row", line)
		}
	}
}

func TestSelectMovesToAKey(t *testing.T) {
	table := newCities(city{"aue", 1}, city{"bonn", 2}, city{"kiel", 3})
	table.Select("kiel")
	if got := table.Selected().name; got != "kiel" {
		t.Errorf("the cursor is on %s", got)
	}
	table.Select("nowhere")
	if got := table.Selected().name; got != "kiel" {
		t.Errorf("the cursor is on %s, and there is no such row", got)
	}
	_ = table.SetFilter("aue")
	table.Select("kiel")
	if got := table.Selected().name; got != "aue" {
		t.Errorf("the cursor is on %s, which the filter hides", got)
	}
}

func TestPagesAreAsLongAsWhatIsSeen(t *testing.T) {
	table := newCities(city{"aue", 1}, city{"bonn", 2})
	for height, want := range map[int]int{0: 1, 1: 1, 7: 7} {
		table.SetSize(40, height)
		if got := table.Page(); got != want {
			t.Errorf("a page of %d rows, want %d", got, want)
		}
	}
}

// TestErrorsOfFiltersQuoteWhatWasTyped, not what it is compiled to.
func TestErrorsOfFiltersQuoteWhatWasTyped(t *testing.T) {
	for expr, want := range map[string]string{
		"(":            "filter \"(\" is not a regular expression: error parsing regexp: missing closing ): `(`",
		"!a[":          "filter \"a[\" is not a regular expression: error parsing regexp: missing closing ]: `[`",
		"-l a in (":    `filter "a in (" is not a label selector: `,
		"fine|sunny":   "",
		"-f anything(": "",
	} {
		err := ParseFilter(expr)
		switch {
		case want == "" && err != nil:
			t.Errorf("%q: unexpected error %v", expr, err)
		case want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)):
			t.Errorf("%q: error %v, want %s", expr, err, want)
		}
	}
}
