package printer

import (
	"fmt"
	"io"
	"slices"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/phrase"
)

// barWidth of a waterfall on a terminal.
func barWidth(o Options) int {
	if o.Width >= 120 {
		return 24
	}
	return 12
}

var operatorSigns = map[diagnosticsv1alpha1.Operator]string{
	diagnosticsv1alpha1.Start:  " ",
	diagnosticsv1alpha1.Minus:  "-",
	diagnosticsv1alpha1.Plus:   "+",
	diagnosticsv1alpha1.Min:    "min",
	diagnosticsv1alpha1.Max:    "max",
	diagnosticsv1alpha1.Times:  "x",
	diagnosticsv1alpha1.Result: "=",
	diagnosticsv1alpha1.Info:   "i",
}

// Waterfall prints the terms of one number in order of application, each with its value, unit, source and age, as far as any term has a source.
// On a terminal a floating bar shows what each term takes away or adds.
func Waterfall(w io.Writer, fall *diagnosticsv1alpha1.Waterfall, o Options) error {
	t := table{indent: 2, columns: sourced(fall, []column{
		{header: "OP"}, {header: "TERM", flexible: 16, says: true}, {header: "VALUE", right: true}, {header: "UNIT", says: true},
		{header: "RUNNING", drop: 2, terminal: true}, {header: "SOURCE", drop: 1, flexible: 20, says: true}, {header: "AGE"},
		{header: "NOTE", flexible: 20, drop: 3, says: true},
	})}
	running, scale := int64(0), largest(fall.Terms)
	for i := range fall.Terms {
		term := &fall.Terms[i]
		before := running
		running = apply(term, running)
		t.add(sourced(fall, termCells(term, floating(term, span{before, running, scale}, o), o, 0))...)
		listed := min(len(term.Parts), o.Parts)
		for p := range listed {
			t.add(sourced(fall, termCells(&term.Parts[p], "", o, 1))...)
		}
		if left := len(term.Parts) - listed + int(term.PartsOmitted); o.Parts > 0 && len(term.Parts) > 0 && left > 0 {
			t.add(sourced(fall, []cell{text(""), painted(Dim, "  and "+phrase.Counted(left, "more part")), text(""), text(""), text(""), text(""), text(""), text("")})...)
		}
	}
	_, err := t.render(w, o)
	return err
}

// sourced leaves out the columns of the source and its age, where all terms are computed from what the explanation does not name one by one.
func sourced[T any](fall *diagnosticsv1alpha1.Waterfall, row []T) []T {
	if slices.ContainsFunc(fall.Terms, func(t diagnosticsv1alpha1.Term) bool {
		return t.Source != nil || t.ObservedAt != nil || len(t.Parts) > 0
	}) {
		return row
	}
	return slices.Delete(row, 5, 7)
}

func termCells(term *diagnosticsv1alpha1.Term, bar string, o Options, depth int) []cell {
	sign, role := operatorSigns[term.Operator], Plain
	switch {
	case depth > 0:
		sign, role = "", Dim
	case term.Operator == diagnosticsv1alpha1.Result:
		role = Strong
	case term.Operator == diagnosticsv1alpha1.Info:
		role = Dim
	}
	value := Quantity(term.Value, term.Unit)
	return []cell{
		text(sign),
		painted(role, strings.Repeat("  ", depth)+term.Name),
		painted(role, value),
		painted(Dim, unitColumn(term.Unit, value)),
		styled(bar),
		painted(Dim, Source(term.Source, o.Wide)),
		text(termAge(term, o)),
		painted(Dim, term.Note),
	}
}

func termAge(term *diagnosticsv1alpha1.Term, o Options) string {
	if term.ObservedAt == nil {
		return "-"
	}
	return Age(o.Now, term.ObservedAt)
}

// unitColumn names a unit that the value itself does not already carry.
func unitColumn(unit diagnosticsv1alpha1.Unit, value string) string {
	switch {
	case unit == diagnosticsv1alpha1.MilliCPU && !strings.HasSuffix(value, "m"):
		return UnitName(unit)
	case unit == diagnosticsv1alpha1.Bytes && !strings.HasSuffix(value, "i"):
		return UnitName(unit)
	default:
		return ""
	}
}

// apply follows the running value of a waterfall for its bars; the numbers printed are the trace's own.
func apply(term *diagnosticsv1alpha1.Term, running int64) int64 {
	switch term.Operator {
	case diagnosticsv1alpha1.Start, diagnosticsv1alpha1.Result:
		return term.Value
	case diagnosticsv1alpha1.Minus:
		return running - term.Value
	case diagnosticsv1alpha1.Plus:
		return running + term.Value
	case diagnosticsv1alpha1.Min:
		return min(running, term.Value)
	case diagnosticsv1alpha1.Max:
		return max(running, term.Value)
	case diagnosticsv1alpha1.Times:
		return int64(float64(running) * float64(term.Value) / 100)
	default:
		return running
	}
}

func largest(terms []diagnosticsv1alpha1.Term) int64 {
	highest, running := int64(0), int64(0)
	for i := range terms {
		running = apply(&terms[i], running)
		highest = max(highest, running)
	}
	return highest
}

// span is the running value before and after a term, and the largest value of the waterfall.
type span struct{ before, after, scale int64 }

// floating draws the span in its place under the whole. What is not nothing has at least one cell.
func floating(term *diagnosticsv1alpha1.Term, s span, o Options) string {
	if s.scale <= 0 || term.Operator == diagnosticsv1alpha1.Info {
		return ""
	}
	low, high, role := min(s.before, s.after), max(s.before, s.after), Bad
	switch {
	case term.Operator == diagnosticsv1alpha1.Start || term.Operator == diagnosticsv1alpha1.Result:
		low, high, role = 0, s.after, Strong
	case s.after > s.before:
		role = Good
	}
	from, until := s.cell(low, barWidth(o)), s.cell(high, barWidth(o))
	if until == from && high > low {
		until = max(until, 1)
		from = until - 1
	}
	return strings.Repeat(" ", from) + o.Style.Bar(role, until-from)
}

// cell is where a value ends on a bar.
func (s span) cell(value int64, width int) int {
	share := float64(min(max(value, 0), s.scale)) / float64(s.scale)
	return int(share*float64(width) + 0.5)
}

// Source names an object as kubectl does, KIND/NAME, with the field behind it in wide output.
func Source(source *diagnosticsv1alpha1.SourceRef, withField bool) string {
	if source == nil {
		return "computed"
	}
	var b strings.Builder
	b.WriteString(source.Kind)
	if source.Name != "" {
		b.WriteString("/")
		if source.Namespace != "" {
			b.WriteString(source.Namespace + "/")
		}
		b.WriteString(source.Name)
	}
	if withField && source.Field != "" {
		fmt.Fprintf(&b, ":%s", source.Field)
	}
	return b.String()
}
