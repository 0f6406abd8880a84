package printer

import (
	"fmt"
	"slices"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// NodeNextCommands names, for the states of load that keep pods off nodes, a node in that state and the command that says why.
// program is how the user calls this one.
func NodeNextCommands(list *diagnosticsv1alpha1.NodeOverviewList, program string) []string {
	var lines []string
	for _, state := range []diagnosticsv1alpha1.LoadState{diagnosticsv1alpha1.LoadHot, diagnosticsv1alpha1.LoadExpired} {
		at := slices.IndexFunc(list.Items, func(n diagnosticsv1alpha1.NodeOverview) bool { return n.Load.State == state })
		if at >= 0 {
			lines = append(lines, fmt.Sprintf("Why %s is %s: %s explain node %s", list.Items[at].Name, state, program, list.Items[at].Name))
		}
	}
	return lines
}
