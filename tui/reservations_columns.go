package tui

import (
	"cmp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/decision/scheduling/reservationview"
	"koordinator.sh/koord/tui/internal/bar"
	"koordinator.sh/koord/tui/internal/grid"
	"koordinator.sh/koord/tui/internal/style"
)

type reservationColumn = grid.Column[reservationRow]

// newReservationTable is the table of Reservations. The clock is for what is left until they expire.
func newReservationTable(now func() time.Time) *grid.Table[reservationRow] {
	return grid.New(reservationColumns(now), func(r *reservationRow) string { return r.Name }, func(r *reservationRow) string {
		return strings.Join([]string{r.Name, string(r.state), r.Status.NodeName, usersText(r.Reservation), ownersText(r.Reservation)}, " ")
	}, reservationProblem)
}

func reservationColumns(now func() time.Time) []reservationColumn {
	use := func(title string, name corev1.ResourceName, drop int) reservationColumn {
		return reservationColumn{
			Title: title, Width: 6, Grow: 1, Max: 24, Drop: drop, Compare: func(a, b *reservationRow) int {
				return cmp.Compare(reservedAmountOf(a.Reservation, name).Reserved, reservedAmountOf(b.Reservation, name).Reserved)
			},
			Cell: func(r *reservationRow, w int, st *style.Set) string {
				return reservedGauge(reservedAmountOf(r.Reservation, name), w, st)
			},
		}
	}
	taken := func(title string, name corev1.ResourceName, drop int) reservationColumn {
		text := func(r *reservationRow) string { return reservedAmountOf(r.Reservation, name).String() }
		return reservationColumn{
			Title: title, Right: true, Drop: drop, Text: text,
			Cell: func(r *reservationRow, _ int, st *style.Set) string { return st.Plain.Render(text(r)) },
		}
	}
	return []reservationColumn{
		textColumn(reservationColumn{Title: "NAME", Width: 10, Max: 40, Ends: true}, func(r *reservationRow) string { return r.Name }),
		{
			Title: "STATE", Width: 11, Compare: func(a, b *reservationRow) int {
				return cmp.Compare(reservationview.Rank(b.state), reservationview.Rank(a.state))
			},
			Cell: func(r *reservationRow, _ int, st *style.Set) string {
				glyph, text := reservationMark(r.state, st)
				return text.Render(glyph + " " + string(r.state))
			},
		},
		textColumn(reservationColumn{Title: "NODE", Width: 8, Max: 40}, func(r *reservationRow) string { return r.Status.NodeName }),
		use("CPU", corev1.ResourceCPU, 5),
		taken("CPU-TAKEN", corev1.ResourceCPU, 0),
		use("MEMORY", corev1.ResourceMemory, 6),
		taken("MEM-TAKEN", corev1.ResourceMemory, 2),
		textColumn(reservationColumn{Title: "POD", Width: 10, Max: 40, Ends: true, Drop: 3}, func(r *reservationRow) string { return usersText(r.Reservation) }),
		{Title: "LEFT", Width: 5, Right: true, Drop: 1, Compare: func(a, b *reservationRow) int { return byMoment(expiryOf(a), expiryOf(b)) },
			Cell: func(r *reservationRow, _ int, st *style.Set) string { return leftCell(expiryOf(r), now(), st) }},
		textColumn(reservationColumn{Title: "OWNERS", Width: 12, Max: 60, Wide: true, Drop: 7}, func(r *reservationRow) string { return ownersText(r.Reservation) }),
	}
}

// reservedGauge shows what is taken of what is reserved. More than that fills it in the style of an error.
func reservedGauge(a reservedAmount, width int, st *style.Set) string {
	if a.Reserved <= 0 {
		return st.Faint.Render(strings.Repeat(st.Limit, width))
	}
	fill := st.OK
	if a.Allocated > a.Reserved {
		fill = st.Bad
	}
	return bar.Gauge(a.Allocated, a.Reserved, width, fill, st.Faint, st)
}
