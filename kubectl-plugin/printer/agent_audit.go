package printer

import (
	"fmt"
	"io"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// Audit prints what an agent did, the oldest first.
func Audit(w io.Writer, page *diagnosticsv1alpha1.AuditPage, o Options) error {
	if page == nil {
		return nil
	}
	if page.Missed > 0 {
		if err := line(w, o, Warn, fmt.Sprintf("%d entries were dropped before they could be read", page.Missed)); err != nil {
			return err
		}
	}
	if len(page.Entries) == 0 {
		return nil
	}
	t := table{columns: []column{
		{header: "TIME"}, {header: "OWNER"}, {header: "OBJECT", flexible: 20}, {header: "OLD", flexible: 6}, {header: "NEW", flexible: 6},
		{header: "WHY", flexible: 20, drop: 1, says: true},
	}}
	for i := range page.Entries {
		entry := &page.Entries[i]
		why, role, after := entry.Why, Dim, text(orNone(entry.New))
		if entry.Error != "" {
			why, role, after = entry.Error, Bad, styled(o.Style.Mark(Bad)+" refused")
		}
		t.add(text(entry.Time.UTC().Format("15:04:05.000")), text(entry.Owner), text(entry.Object), text(orNone(entry.Old)), after, painted(role, why))
	}
	_, err := t.render(w, o)
	return err
}
