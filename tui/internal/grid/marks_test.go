package grid

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	gocmp "github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/tui/internal/style"
)

func TestMarks(t *testing.T) {
	cities := []city{{"aue", 3}, {"bonn", 7}, {"kiel", 5}, {"rom", 9}, {"ulm", 2}}
	for name, tc := range map[string]struct {
		do   func(*Table[city])
		want string
	}{
		"none at first":                        {func(*Table[city]) {}, ""},
		"the row under the cursor":             {func(t *Table[city]) { t.Move(1); t.Mark() }, "bonn"},
		"again takes the mark away":            {func(t *Table[city]) { t.Mark(); t.Mark() }, ""},
		"a range down":                         {func(t *Table[city]) { t.Mark(); t.Move(2); t.MarkRange() }, "aue bonn kiel"},
		"a range up":                           {func(t *Table[city]) { t.Move(3); t.Mark(); t.Move(-1); t.MarkRange() }, "kiel rom"},
		"ranges go on from each other":         {func(t *Table[city]) { t.Mark(); t.Move(1); t.MarkRange(); t.Move(2); t.MarkRange() }, "aue bonn kiel rom"},
		"a range without a beginning":          {func(t *Table[city]) { t.Move(1); t.MarkRange() }, "bonn"},
		"a range from a mark that was taken":   {func(t *Table[city]) { t.Mark(); t.Mark(); t.Move(2); t.MarkRange() }, "kiel"},
		"a range from a row that is hidden":    {func(t *Table[city]) { t.Mark(); _ = t.SetFilter("l"); t.MarkRange() }, "aue kiel"},
		"a range in another order":             {func(t *Table[city]) { t.SortBy("SIZE", true); t.Mark(); t.Move(1); t.MarkRange() }, "bonn rom"},
		"a filter hides no mark":               {func(t *Table[city]) { t.Mark(); _ = t.SetFilter("rom"); t.Mark() }, "aue rom"},
		"cleared":                              {func(t *Table[city]) { t.Mark(); t.ClearMarks() }, ""},
		"nothing to mark":                      {func(t *Table[city]) { _ = t.SetFilter("paris"); t.Mark(); t.MarkRange() }, ""},
		"rows that come back later are new":    {func(t *Table[city]) { t.Mark(); t.SetRows(nil); t.SetRows(cities) }, ""},
		"marks stay on their rows":             {func(t *Table[city]) { t.Mark(); t.SetRows([]city{{"aachen", 1}, {"aue", 4}}) }, "aue"},
		"the mark of a row that is gone, goes": {func(t *Table[city]) { t.Mark(); t.Move(1); t.Mark(); t.SetRows([]city{{"bonn", 7}}) }, "bonn"},
	} {
		t.Run(name, func(t *testing.T) {
			table := newCities(cities...)
			tc.do(table)
			var got []string
			for _, row := range table.Marked() {
				got = append(got, row.name)
			}
			if diff := gocmp.Diff(tc.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("unexpected marks (-want +got):\n%s", diff)
			}
			if table.Marks() != len(got) {
				t.Errorf("%d marks of %d rows", table.Marks(), len(got))
			}
		})
	}
}

func TestMarkedRowsAreSeen(t *testing.T) {
	table := newCities(city{"aue", 3}, city{"bonn", 7}, city{"rom", 9})
	table.Mark()
	table.Move(1)
	table.MarkRange()
	table.Move(1)
	var got []string
	for _, line := range table.Draw(20, 4, true, style.New(style.Appearance{ASCII: true})) {
		got = append(got, strings.TrimRight(ansi.Strip(line), " "))
	}
	want := []string{" NAME^         SIZE", "*aue              3", "*bonn             7", ">rom              9"}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("unexpected table (-want +got):\n%s", diff)
	}
}
