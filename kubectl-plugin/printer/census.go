package printer

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/phrase"
)

// census prints which of the reservations that a pod is an owner of it cannot use, and why.
func census(w io.Writer, c *diagnosticsv1alpha1.ReservationCensus, o Options) error {
	if c == nil || len(c.Refusals) == 0 {
		return nil
	}
	refused := int32(0)
	t := table{indent: 2, columns: []column{
		{header: "RESERVATIONS", right: true}, {header: "CODE"}, {header: "NAMES", drop: 1, flexible: 12}, {header: "REASON", flexible: 60, says: true},
	}}
	for _, r := range c.Refusals {
		refused += r.Count
		names := strings.Join(r.Names, ", ")
		if left := int(r.Count) - len(r.Names); left > 0 && len(r.Names) > 0 {
			names += fmt.Sprintf(" and %d more", left)
		}
		t.add(text(strconv.Itoa(int(r.Count))), text(r.Code), text(names), painted(Strong, r.Reason))
	}
	title := fmt.Sprintf("%d of %s for the pod can be used", c.Matched-refused, phrase.Counted(int(c.Matched), "reservation"))
	var b strings.Builder
	b.WriteString("\n")
	wrapped(&b, o, 0, o.Style.Paint(Header, o.say(title)))
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	_, err := t.render(w, o)
	return err
}
