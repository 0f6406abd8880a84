package tui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/scheduling/fitmessage"
	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/grid"
)

// reasonRoom is the room in which most reasons are whole.
const reasonRoom = 48

// insufficient is how the scheduler begins the reason of a resource.
const insufficient = "Insufficient "

// reasonSpan shows why a pod does not run where others show what they use. A pod without a node has none to show there.
var reasonSpan = grid.Span[podRow]{
	After: func(r *podRow) []string {
		if r.NodeName == "" {
			return []string{bandColumn, statusColumn}
		}
		return []string{nodeColumnTitle, bandColumn, statusColumn}
	},
	Room: reasonRoom,
	Text: func(r *podRow, width int) string { return cell.Clean(reasonText(r.Reason, width)) },
}

// podReason is why a pod does not run, in a line of some width; empty where nothing is said.
func podReason(r *podRow, width int) string {
	if r.Reason == "" {
		return ""
	}
	return reasonText(r.Reason, width)
}

// reasonText is a reason for a line of some width. Of what the scheduler says, "0/30 nodes are available: 1 node(s) were
// unschedulable, 29 Insufficient cpu.", a line that it does not fit begins with what refused most nodes.
func reasonText(reason string, width int) string {
	reason = strings.TrimSuffix(strings.Join(strings.Fields(reason), " "), ".")
	if cell.Width(reason) <= width {
		return reason
	}
	refusals := fitmessage.Refusals(reason)
	if len(refusals) == 0 {
		return reason
	}
	slices.SortStableFunc(refusals, func(a, b fitmessage.Refusal) int { return cmp.Compare(b.Nodes, a.Nodes) })
	parts := make([]string, len(refusals))
	for i, r := range refusals {
		// Batch and mid resources are known without the domain before them.
		parts[i] = strconv.Itoa(r.Nodes) + " " + strings.Replace(r.Reason, insufficient+extension.ResourceDomainPrefix, insufficient, 1)
	}
	return strings.Join(parts, ", ")
}
