package printer

import (
	"io"
	"slices"
	"strings"
)

// listing is a table of objects, with their namespace first where those of several are listed.
type listing struct {
	table
	options Options
}

func newListing(columns []column, o Options) *listing {
	if o.WithNamespace {
		columns = append([]column{{header: "NAMESPACE", flexible: 12}}, columns...)
	}
	return &listing{table{columns: columns}, o}
}

func (l *listing) add(namespace string, cells ...cell) {
	if l.options.WithNamespace {
		cells = slices.Insert(cells, 0, text(namespace))
	}
	l.table.add(cells...)
}

// render writes the table, and below it which columns the terminal had no room for.
func (l *listing) render(w io.Writer) error {
	hidden, err := l.table.render(w, l.options)
	if err != nil || len(hidden) == 0 {
		return err
	}
	return hiddenNote(w, hidden, l.options)
}

// hiddenNote says which columns the terminal had no room for. A missing bar is no missing number.
func hiddenNote(w io.Writer, hidden []string, o Options) error {
	named := slices.DeleteFunc(slices.Clone(hidden), func(header string) bool { return header == shareColumn })
	if len(named) == 0 {
		return nil
	}
	var b strings.Builder
	wrapped(&b, o, 0, o.Style.Paint(Dim, "no room for "+strings.Join(named, ", ")))
	_, err := io.WriteString(w, b.String())
	return err
}
