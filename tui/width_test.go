package tui

import (
	"testing"

	"pgregory.net/rapid"

	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/grid"
	"koordinator.sh/koord/tui/internal/style"
)

// TestRowsAreAsWideAsTheScreen, each cell of them, whatever it says and however the table is sorted.
func TestRowsAreAsWideAsTheScreen(t *testing.T) {
	t.Run("devices", func(t *testing.T) { checkWidths(t, newDeviceTable, anyDevices) })
	t.Run("gangs", func(t *testing.T) {
		checkWidths(t, func() *grid.Table[gangRow] { return newGangTable(builtNow) }, anyGang)
	})
	t.Run("quotas", func(t *testing.T) { checkWidths(t, newQuotaTable, anyQuota) })
	t.Run("reservations", func(t *testing.T) {
		checkWidths(t, func() *grid.Table[reservationRow] { return newReservationTable(builtNow) }, anyReservation)
	})
	t.Run("migrations", func(t *testing.T) {
		checkWidths(t, func() *grid.Table[migrationRow] { return newMigrationTable(builtNow) }, anyMigration)
	})
	t.Run("drained pods", func(t *testing.T) { checkWidths(t, newDrainTable, anyDrained) })
	t.Run("moves", func(t *testing.T) { checkWidths(t, newMoveTable, anyMove) })
	t.Run("workloads", func(t *testing.T) {
		checkWidths(t, func() *grid.Table[workloadRow] { return newWorkloadTable(builtNow) }, anyWorkload)
	})
	t.Run("workers", func(t *testing.T) {
		checkWidths(t, func() *grid.Table[workersRow] { return newWorkersTable(builtNow) }, anyWorkers)
	})
	t.Run("pods", func(t *testing.T) { checkWidths(t, func() *grid.Table[podRow] { return newPodTable(true) }, anyPod) })
	t.Run("nodes", func(t *testing.T) {
		checkWidths(t, func() *grid.Table[nodeRow] { return newNodeTable(builtNow) }, anyNode)
	})
}

func checkWidths[R any](t *testing.T, newTable func() *grid.Table[R], row func(*rapid.T) R) {
	t.Helper()
	rows := rapid.SliceOfN(rapid.Custom(row), 1, 12)
	sets := []*style.Set{style.New(colourLook), style.New(plainLook), style.New(asciiLook)}
	rapid.Check(t, func(t *rapid.T) {
		table := newTable()
		table.SetRows(rows.Draw(t, "rows"))
		width, height := rapid.IntRange(minWidth, 200).Draw(t, "width"), rapid.IntRange(1, 15).Draw(t, "height")
		table.SetSize(width, height-1)
		table.Choose(rapid.IntRange(-2, 4).Draw(t, "column"))
		table.SortByChosen()
		if rapid.Bool().Draw(t, "wide") {
			table.ToggleWide()
		}
		lines := table.Draw(width, height, true, rapid.SampledFrom(sets).Draw(t, "look"))
		if want := min(table.Len()+1, height); len(lines) != want {
			t.Fatalf("%d lines, want %d", len(lines), want)
		}
		for _, line := range lines {
			if w := cell.Width(line); w != width {
				t.Fatalf("a line of %d cells, want %d: %q", w, width, line)
			}
		}
	})
}
