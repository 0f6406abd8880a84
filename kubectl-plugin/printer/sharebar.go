package printer

import (
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// Share is one area of the co-location chart.
type Share struct {
	// Role names the area.
	Role Role
	// Value in the resource's unit.
	Value int64
}

// Shares splits a node's capacity into the areas of the co-location chart, bottom first: system | prod used | prod
// reserved and unused | mid | batch used | batch offered and unused | idle. What overlaps - batch is offered out of
// what prod reserved - is shown once, in the later area: reserved-unused shrinks by what mid and batch take, so that
// the areas never add up to more than the capacity.
func Shares(r diagnosticsv1alpha1.ResourceOverview) []Share {
	system, prod := deref(r.SystemUsed), deref(r.ProdUsed)
	mid := max(deref(r.MidUsed), deref(r.MidAllocatable))
	batch := deref(r.BatchUsed)
	batchFree := max(deref(r.BatchAllocatable)-batch, 0)
	reserved := max(deref(r.ProdRequested)-prod, 0)
	reserved = min(reserved, max(r.Capacity-system-prod-mid-batch-batchFree, 0))
	shares := []Share{{System, system}, {Prod, prod}, {ProdReserved, reserved}, {Mid, mid}, {Batch, batch}, {BatchFree, batchFree}}
	left := max(r.Capacity, 0)
	for i := range shares {
		shares[i].Value = min(max(shares[i].Value, 0), left)
		left -= shares[i].Value
	}
	return append(shares, Share{Idle, left})
}

// ShareBar draws the areas of a resource in one line of width cells. Rounding never loses or adds a cell. Nothing is drawn
// where the pods could not be listed, for what looks idle may be reserved.
func ShareBar(r diagnosticsv1alpha1.ResourceOverview, width int, style Style) string {
	if width < 1 || r.Capacity <= 0 || r.ProdRequested == nil {
		return ""
	}
	var b strings.Builder
	drawn, running := 0, int64(0)
	for _, share := range Shares(r) {
		running += share.Value
		until := int(float64(running)/float64(r.Capacity)*float64(width) + 0.5)
		until = min(until, width)
		b.WriteString(style.Bar(share.Role, until-drawn))
		drawn = max(drawn, until)
	}
	return b.String()
}

// shareNames are the areas as a legend calls them.
var shareNames = []struct {
	role Role
	name string
}{
	{System, "system"}, {Prod, "prod used"}, {ProdReserved, "prod reserved"}, {Mid, "mid"},
	{Batch, "batch used"}, {BatchFree, "batch free"}, {Idle, "idle"},
}

// ShareLegend names the areas of ShareBar in one line.
func ShareLegend(style Style) string {
	parts := make([]string, len(shareNames))
	for i, share := range shareNames {
		parts[i] = style.Bar(share.role, 1) + " " + share.name
	}
	return strings.Join(parts, "  ")
}

func deref(value *int64) int64 {
	if value == nil {
		return 0
	}
	return *value
}
