package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/tui/internal/style"
)

// screen declares one view of the workbench. The rest is derived from the declaration: which keys work, what the menu and
// the help say about them, what command mode completes, what is asked while the view is seen, its title and banners, and
// its part of docs/tui.md. Its functions are called with the page they are about; those that are nil have nothing to do.
type screen struct {
	// name of the screen, by which others open it. It is also its crumb and title, where crumb and title do not say.
	name string
	// doc says what the screen shows, in one sentence without its full stop.
	doc string
	// commands of command mode that belong to it. The first one opens it.
	commands []command
	// keys are its own. Those of its table or text, and those of every screen, come after them.
	keys []action
	// summary shows the co-location of the cluster above the title.
	summary bool
	// subject is the kind of object that a page of it explains; nil when it explains none.
	subject *subject

	crumb, title func(*page) string
	// ask asks for what the page shows, again with every refresh. The nodes are asked for anyway.
	ask func(*page) tea.Cmd
	// once is true for a question that costs the cluster too much to be asked with every refresh, such as one for which koord-scheduler runs
	// its filters for many pods: it is asked when a page is opened, and then by ctrl-r alone, also after an error. Its answer is of the
	// moment that the header names, and does not get stale.
	once bool
	// content is what the page shows.
	content func(*page) content
	// learned is called after every answer, such as to go elsewhere where the user lacks the permission to see this.
	learned func(*page) tea.Cmd
	// wheel is what a notch of the mouse wheel does where it neither moves a cursor nor scrolls a text.
	wheel func(by int) tea.Cmd
}

// content is what a page shows at the moment: a table, a text that scrolls, or a drawing that fills its room.
type content struct {
	// feed that it comes from; nil where nothing is asked.
	feed *feedState
	// incomplete lists what the answer could not see.
	incomplete []string

	table *rows
	text  func(width int) []string
	draw  func(rect) []string

	// head is drawn above a table, and does not scroll.
	head func(width int) []string
	// headLines is the number of lines of head.
	headLines int
	// click on a column and a line of what is shown below the banners; false when there is nothing to click on.
	click func(x, line int) (tea.Cmd, bool)
}

// rows are a table with what has to be known around it.
type rows struct {
	table
	// empty says that there is not a single row, and how to get some.
	empty func() (what string, hints []string)
	// selected is the object under the cursor; false when there is none.
	selected func() (object, bool)
	// marked are the objects of the rows that are marked.
	marked func() []object
	// reason says in a line of some width why the row under the cursor is in trouble; empty when it is not. May be nil.
	reason func(width int) string
	// labelled returns the question which rows a label selector selects. It may be nil.
	labelled func(selector string) labelQuestion
}

// labelQuestion asks for the keys of the rows that a label selector selects.
type labelQuestion struct {
	name string
	ask  func(context.Context) (admitted, error)
}

// table is what tables of any row have in common.
type table interface {
	Move(delta int)
	Page() int
	Len() int
	Total() int
	Filter() string
	SetFilter(expr string) error
	Selector() string
	Admit(keys map[string]bool)
	Problems() bool
	ToggleProblems()
	Wide() bool
	ToggleWide()
	SortBy(title string, largestFirst bool)
	Choose(delta int)
	SortByChosen()
	At(line int) bool
	Cursor() int
	SetSize(width, rows int)
	Draw(width, height int, focus bool, st *style.Set) []string
	Mark()
	MarkRange()
	ClearMarks()
	Marks() int
}
