package tui

import (
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/quantity"
	"koordinator.sh/koord/tui/internal/style"
)

// valueOf writes a value with its unit, as the command line does.
func valueOf(v int64, unit diagnostics.Unit) string {
	return printer.QuantityWithUnit(v, unit)
}

// words splits a lowerCamelCase name into words.
func words(name string) string {
	var b strings.Builder
	var last rune
	for _, r := range cell.Clean(name) {
		if unicode.IsUpper(r) && unicode.IsLower(last) {
			b.WriteByte(' ')
		}
		last = r
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// sourceOf writes an object and the field inside it: Node/node-1 status.capacity.cpu. The name of the object that the
// view is about is left out.
func sourceOf(ref *diagnostics.SourceRef, about string) string {
	if ref == nil {
		return ""
	}
	text := ref.Kind
	for _, part := range []string{ref.Namespace, ref.Name} {
		if part != "" && part != about {
			text += "/" + part
		}
	}
	if ref.Field != "" {
		text += " " + ref.Field
	}
	return cell.Clean(text)
}

func ageOf(at *metav1.Time, now time.Time) string {
	if at == nil {
		return quantity.None
	}
	return quantity.AgeOf(now, at.Time)
}

// operatorMark is the sign in front of a term.
func operatorMark(o diagnostics.Operator, st *style.Set) string {
	switch o {
	case diagnostics.Minus:
		return st.Minus
	case diagnostics.Plus:
		return st.Plus
	case diagnostics.Times:
		return st.Times
	case diagnostics.Min:
		return st.AtMost
	case diagnostics.Max:
		return st.AtLeast
	case diagnostics.Result:
		return st.Equals
	case diagnostics.Info:
		return st.Dot
	}
	return st.Start
}

// span is the part of the running value a term adds or takes away.
type span struct{ from, to int64 }

// spansOf follows a waterfall's running value; max is its highest.
func spansOf(terms []diagnostics.Term) (spans []span, highest int64) {
	var running int64
	for _, t := range terms {
		before := running
		switch t.Operator {
		case diagnostics.Start, diagnostics.Result:
			before, running = 0, t.Value
		case diagnostics.Minus:
			running -= t.Value
		case diagnostics.Plus:
			running += t.Value
		case diagnostics.Min:
			running = min(running, t.Value)
		case diagnostics.Max:
			running = max(running, t.Value)
		case diagnostics.Times:
			running = int64(float64(running) * float64(t.Value) / 100)
		}
		spans = append(spans, span{from: max(min(before, running), 0), to: max(before, running, 0)})
		highest = max(highest, before, running)
	}
	return spans, highest
}

// spanBar draws a span on a scale, of exactly width cells. What is not nothing takes at least one cell.
func spanBar(s span, scale int64, width int, o diagnostics.Operator, st *style.Set) string {
	if scale <= 0 || width <= 0 {
		return cell.Blank(max(width, 0))
	}
	at := func(v int64) int { return min(int(float64(v)/float64(scale)*float64(width)+0.5), width) }
	from, to := at(s.from), at(s.to)
	if s.to > s.from && to == from {
		from, to = min(from, width-1), min(from, width-1)+1
	}
	text, glyph := st.Info, st.Full
	switch o {
	case diagnostics.Result:
		text = st.OK
	case diagnostics.Minus, diagnostics.Min, diagnostics.Times:
		text, glyph = st.Dim, st.Areas.Patterns[style.System]
	}
	return cell.Blank(from) + text.Render(strings.Repeat(glyph, to-from)) + cell.Blank(width-to)
}

// sortedNames are the names of a list's resources in order.
func sortedNames(list corev1.ResourceList) []corev1.ResourceName {
	return slices.Sorted(maps.Keys(list))
}
