package tui

import (
	"cmp"
	"slices"
	"strings"

	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/grid"
	"koordinator.sh/koord/tui/internal/quantity"
	"koordinator.sh/koord/tui/internal/style"
)

// matter is a row of the dashboard: objects of one list that are in the same state.
type matter struct {
	// list is the screen that lists them.
	list  string
	state string
	// cause tells objects in the same state apart; empty where they are one row.
	cause string
	mark  func(*style.Set) (string, style.Style)
	count int
	// about is the first of them, and text says what is with it.
	about object
	text  string
	// rank is lower the graver the state is.
	rank int
	// next is true for what happens next, and false for what is wrong.
	next bool
	// at is its place on the dashboard.
	at int
}

func (r *matter) key() string { return strings.Join([]string{r.list, r.state, r.cause}, " ") }

// byGravity orders what is wrong before what happens next.
func byGravity(a, b matter) int {
	rank := func(m matter) int {
		if m.next {
			return 1
		}
		return 0
	}
	return cmp.Compare(rank(a), rank(b))
}

// newMatterTable is the table of the dashboard.
func newMatterTable() *grid.Table[matter] {
	return grid.New(matterColumns(), (*matter).key, func(r *matter) string {
		return strings.Join([]string{r.list, r.state, r.about.key(), r.text}, " ")
	}, func(r *matter) bool { return !r.next })
}

func matterColumns() []grid.Column[matter] {
	type column = grid.Column[matter]
	return []column{
		textColumn(column{Title: "LIST", Width: 6, Max: 12, Compare: func(a, b *matter) int { return cmp.Compare(a.at, b.at) }},
			func(r *matter) string { return r.list }),
		{Title: "STATE", Width: 12, Compare: func(a, b *matter) int { return strings.Compare(a.state, b.state) },
			Cell: func(r *matter, _ int, st *style.Set) string {
				glyph, text := r.mark(st)
				return text.Render(glyph + " " + r.state)
			}},
		{Title: "COUNT", Width: 6, Right: true, Compare: func(a, b *matter) int { return cmp.Compare(a.count, b.count) },
			Cell: func(r *matter, _ int, st *style.Set) string { return st.Plain.Render(quantity.Count(int64(r.count))) }},
		textColumn(column{Title: "FIRST", Width: 14, Max: 40, Ends: true}, func(r *matter) string { return r.about.key() }),
		{Title: "WHY", Width: 20, Grow: 1,
			Cell: func(r *matter, width int, st *style.Set) string {
				return st.Plain.Render(cell.Clean(st.Say(reasonText(r.text, width))))
			}},
	}
}

// grouped makes a row for each state and cause of the rows of a list that of keeps. The gravest come first, and of these the most.
func grouped[R any](list string, rows []R, of func(*R) (matter, bool)) []matter {
	var out []matter
	at := map[string]int{}
	for i := range rows {
		row, ok := of(&rows[i])
		if !ok {
			continue
		}
		row.list, row.count = list, 1
		if first, seen := at[row.key()]; seen {
			out[first].count++
			continue
		}
		at[row.key()] = len(out)
		out = append(out, row)
	}
	slices.SortStableFunc(out, func(a, b matter) int { return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.count, a.count)) })
	return out
}
