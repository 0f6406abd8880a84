package printer

import (
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"koordinator.sh/koord/messages"
)

const (
	gap = 2
	// narrowest is what remains of a flexible column when there is nothing left to drop.
	narrowest = 8
)

// column of a table.
type column struct {
	header string
	// right aligns numbers.
	right bool
	// drop is 0 for a column that always stays; on a narrow terminal the highest number goes first.
	drop int
	// flexible columns are cut, down to this width, before any column is dropped; 0 for one that is never cut.
	flexible int
	// wide columns are for -o wide only.
	wide bool
	// says is true for a column of messages, which are translated.
	says bool
	// terminal columns are drawings, left out where the output is read by a program.
	terminal bool
}

// cell of a table. The text is as it came from the cluster; styled text has been cleaned and painted already.
type cell struct {
	text   string
	role   Role
	styled bool
}

func text(s string) cell               { return cell{text: s} }
func painted(role Role, s string) cell { return cell{text: s, role: role} }
func styled(s string) cell             { return cell{text: s, styled: true} }

// table is columns and rows; each row has one cell a column.
type table struct {
	columns []column
	rows    [][]cell
	indent  int
}

func (t *table) add(cells ...cell) { t.rows = append(t.rows, cells) }

// render writes the table and returns the headers of columns that the terminal is too narrow for. Asked for wide, it leaves
// out and cuts nothing.
func (t *table) render(w io.Writer, o Options) ([]string, error) {
	if o.Wide {
		o.Width = 0
	}
	shown := t.visible(o)
	texts := t.painted(shown, o)
	natural := t.widths(shown, texts, o)
	widths := natural
	var hidden []int
	for o.Width > 0 {
		var fits bool
		if widths, fits = t.shrink(shown, natural, o.Width-t.indent, false); fits {
			break
		}
		i := t.firstToDrop(shown)
		if i < 0 {
			widths, _ = t.shrink(shown, natural, o.Width-t.indent, true)
			break
		}
		hidden = append(hidden, shown[i])
		shown, natural = slices.Delete(shown, i, i+1), slices.Delete(natural, i, i+1)
		for r := range texts {
			texts[r] = slices.Delete(texts[r], i, i+1)
		}
	}
	var b strings.Builder
	if !o.NoHeaders {
		headers := make([]string, len(shown))
		for i, c := range shown {
			headers[i] = o.Style.Paint(Header, o.Language.Text(t.columns[c].header))
		}
		t.line(&b, shown, widths, headers, o)
	}
	for _, row := range texts {
		t.line(&b, shown, widths, row, o)
	}
	_, err := io.WriteString(w, b.String())
	return t.headers(hidden), err
}

// headers of columns, in the table's order.
func (t *table) headers(columns []int) []string {
	slices.Sort(columns)
	var headers []string
	for _, c := range columns {
		headers = append(headers, t.columns[c].header)
	}
	return headers
}

func (t *table) visible(o Options) []int {
	var shown []int
	for i, c := range t.columns {
		if (o.Wide || !c.wide) && (o.Width > 0 || !c.terminal) {
			shown = append(shown, i)
		}
	}
	return shown
}

func (t *table) painted(shown []int, o Options) [][]string {
	texts := make([][]string, len(t.rows))
	for r, row := range t.rows {
		texts[r] = make([]string, len(shown))
		for i, c := range shown {
			texts[r][i] = row[c].text
			switch {
			case row[c].styled:
			case t.columns[c].says:
				texts[r][i] = o.Style.Paint(row[c].role, o.say(row[c].text))
			default:
				texts[r][i] = o.Style.Paint(row[c].role, o.Style.Clean(row[c].text))
			}
		}
	}
	return texts
}

func (t *table) widths(shown []int, texts [][]string, o Options) []int {
	widths := make([]int, len(shown))
	for i, c := range shown {
		if !o.NoHeaders {
			widths[i] = ansi.StringWidth(o.Language.Text(t.columns[c].header))
		}
		for _, row := range texts {
			widths[i] = max(widths[i], cellsOf(row[i]))
		}
	}
	return widths
}

func (t *table) firstToDrop(shown []int) int {
	found, highest := -1, 0
	for i, c := range shown {
		if t.columns[c].drop > highest {
			found, highest = i, t.columns[c].drop
		}
	}
	return found
}

// shrink narrows the flexible columns, the widest first, until the line fits, and says whether it does. At the utmost the
// columns give up what they would rather keep.
func (t *table) shrink(shown, natural []int, width int, utmost bool) ([]int, bool) {
	widths := slices.Clone(natural)
	for excess := sum(widths) + gap*(len(widths)-1) - width; excess > 0; excess-- {
		widest := -1
		for i, c := range shown {
			least := t.columns[c].flexible
			if utmost {
				least = min(least, narrowest)
			}
			if least > 0 && widths[i] > least && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return widths, false
		}
		widths[widest]--
	}
	return widths, true
}

func (t *table) line(b *strings.Builder, shown, widths []int, texts []string, o Options) {
	var line strings.Builder
	line.WriteString(strings.Repeat(" ", t.indent))
	for i, c := range shown {
		if i > 0 {
			line.WriteString(strings.Repeat(" ", gap))
		}
		line.WriteString(pad(texts[i], widths[i], t.columns[c].right, o.Style))
	}
	out := strings.TrimRight(line.String(), " ")
	if o.Width > 0 {
		out = ansi.Truncate(out, o.Width, o.Style.Ellipsis())
	}
	b.WriteString(out)
	b.WriteByte('\n')
}

// cellsOf is how many cells of a terminal styled text takes. Most of it in large tables is plain ASCII, of which each character takes one.
func cellsOf(s string) int {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return ansi.StringWidth(s)
		}
	}
	return len(s)
}

// pad fills or cuts styled text to a width.
func pad(s string, width int, right bool, style Style) string {
	have := cellsOf(s)
	switch {
	case have > width:
		return ansi.Truncate(s, width, style.Ellipsis())
	case right:
		return strings.Repeat(" ", width-have) + s
	default:
		return s + strings.Repeat(" ", width-have)
	}
}

func sum(values []int) int {
	total := 0
	for _, v := range values {
		total += v
	}
	return total
}

// wrapped writes text as a paragraph, broken at words where the terminal ends; the lines after an indented first one hang.
func wrapped(b *strings.Builder, o Options, indent int, s string) {
	hanging := indent
	if indent > 0 {
		hanging += 2
	}
	lines := []string{s}
	if room := o.Width - hanging; o.Width > 0 && room > 0 {
		if o.Language == messages.Chinese {
			lines = messages.Wrap(s, room)
		} else {
			lines = strings.Split(ansi.Hardwrap(ansi.Wrap(s, room, ""), room, false), "\n")
		}
	}
	for _, line := range lines {
		b.WriteString(strings.TrimRight(strings.Repeat(" ", indent)+line, " ") + "\n")
		indent = hanging
	}
}
