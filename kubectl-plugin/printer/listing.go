package printer

import (
	"io"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// listing is a table of objects, with their namespace first where those of several are listed, and their labels last as far as they
// are asked for.
type listing struct {
	table
	options Options
}

func newListing(columns []column, o Options) *listing {
	if o.WithNamespace {
		columns = append([]column{{header: "NAMESPACE", flexible: 12}}, columns...)
	}
	columns = slices.Clone(columns)
	for _, label := range o.LabelColumns {
		columns = append(columns, column{header: strings.ToUpper(label[strings.LastIndexByte(label, '/')+1:])})
	}
	if o.ShowLabels {
		columns = append(columns, column{header: "LABELS"})
	}
	return &listing{table{columns: columns}, o}
}

func (l *listing) add(object metav1.Object, cells ...cell) {
	if l.options.WithNamespace {
		cells = slices.Insert(cells, 0, text(object.GetNamespace()))
	}
	for _, label := range l.options.LabelColumns {
		cells = append(cells, text(object.GetLabels()[label]))
	}
	if l.options.ShowLabels {
		cells = append(cells, text(labels.FormatLabels(object.GetLabels())))
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
	wrapped(&b, o, 0, o.Style.Paint(Dim, o.say("columns that did not fit: "+strings.Join(named, ", "))))
	_, err := io.WriteString(w, b.String())
	return err
}
