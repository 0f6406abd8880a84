package printer

import (
	"fmt"
	"slices"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// nextCommands are, for the states of load that keep pods off nodes, the commands that lead on: to the pods that use a hot node, and
// to what follows from a report that is too old.
var nextCommands = []struct {
	state   diagnosticsv1alpha1.LoadState
	command string
}{
	{diagnosticsv1alpha1.LoadHot, "top pods -A --sort-by=cpu --node %s"},
	{diagnosticsv1alpha1.LoadExpired, "explain node %s"},
}

// NodeNextCommands says of the first node in each of those states why it is, and names the next command. program is how the user calls
// this one.
func NodeNextCommands(list *diagnosticsv1alpha1.NodeOverviewList, program string) []string {
	var lines []string
	for _, next := range nextCommands {
		at := slices.IndexFunc(list.Items, func(n diagnosticsv1alpha1.NodeOverview) bool { return n.Load.State == next.state })
		if at < 0 {
			continue
		}
		node := &list.Items[at]
		line := fmt.Sprintf("%s is %s", node.Name, next.state)
		if node.Load.Message != "" {
			line += ", " + node.Load.Message
		}
		lines = append(lines, line+": see "+program+" "+fmt.Sprintf(next.command, node.Name))
	}
	return lines
}
