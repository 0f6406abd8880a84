package printer

import (
	"strings"

	"koordinator.sh/koord/decision/scheduling/quotaview"
)

// partRoles are the roles of the parts of a bar of a quota.
var partRoles = map[quotaview.Part]Role{
	quotaview.Used: Good, quotaview.Borrowed: Borrowed, quotaview.Free: Idle, quotaview.Asked: Asked,
}

// QuotaBar draws what a quota uses within min and beyond it, what is free of its runtime and what is requested beyond that, in one line of
// width cells; a line marks min. Nothing is drawn where nothing is known.
func QuotaBar(a *quotaview.Amounts, width int, style Style) string {
	var b strings.Builder
	parts := quotaview.Bar(a, width)
	for len(parts) > 0 {
		run := 1
		for run < len(parts) && parts[run] == parts[0] {
			run++
		}
		role, area := partRoles[parts[0]]
		switch {
		case area:
			b.WriteString(style.Bar(role, run))
		case parts[0] == quotaview.MinMark:
			b.WriteString(style.Paint(Strong, style.Border()))
		default:
			b.WriteString(strings.Repeat(" ", run))
		}
		parts = parts[run:]
	}
	return b.String()
}
