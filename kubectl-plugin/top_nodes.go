package kubectlplugin

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

const topNodesLong = `Show what each node offers, has requested and uses, its load as load-aware scheduling sees it, and the age of the data.

  LOAD                  the load-aware scheduler's view: Normal, Hot, Expired or Unknown
  CPU-USED, MEM-USED    used / allocatable before amplification, as measured on the whole node
  PROD-CPU, PROD-MEM    used / requested by pods that are neither mid, batch nor free
  MID-CPU, MID-MEM      requested / offered in node.status
  BATCH-CPU, BATCH-MEM  requested / offered in node.status
  AGE                   of the measurements, with their state unless they are fresh

-o wide adds the usage of the system, of batch and of free pods, what the agent predicts to be reclaimable, and

  BALANCE               koord-descheduler's view: Overutilized, Underutilized, Normal or Unknown by the thresholds of its plugin
                        LowNodeLoad or LoadAwareRebalancing; <none> where neither moves pods for the load of the node

LoadAwareRebalancing decides by the predicted load, BALANCE shows its verdict on the load that nodes report now. -o yaml adds the
usage and the thresholds. CPU is in cores. A question mark is a value that was not measured, or that you do not have permission to read; see standard error.`

const topNodesExamples = `  # Show all nodes
  %[1]s top nodes

  # Show the nodes of a pool, the highest CPU usage first, with every column
  %[1]s top nodes -l pool=shared --sort-by=cpu -o wide

  # Show the nodes that koord-descheduler moves pods off first
  %[1]s top nodes --sort-by=balance -o wide

  # Show what the load of a node is judged by
  %[1]s top nodes worker-1 -o yaml --full

  # Print one value of one node
  %[1]s top nodes worker-1 -o jsonpath='{.items[0].cpu.batchAllocatable}'`

func newTopNodesCommand(s *session) *cobra.Command {
	full := false // adds to objects what the load was judged by
	cmd := newListingCommand(s, source.KindNode, listing[node, diagnosticsv1alpha1.NodeOverviewList]{
		help:   help{short: "Show nodes: offered, requested, used, load and age of the data", long: topNodesLong, examples: topNodesExamples},
		orders: nodeOrders,
		fields: nodeFields,
		ask: func(ctx context.Context, src source.Source, q query) (*diagnosticsv1alpha1.NodeOverviewList, error) {
			return src.Nodes(ctx, source.NodeQuery{Names: q.names, LabelSelector: q.labels, FieldSelector: q.fields, Operands: full, Balance: needsBalance(q)})
		},
		items:      func(list *diagnosticsv1alpha1.NodeOverviewList) *[]node { return &list.Items },
		incomplete: func(list *diagnosticsv1alpha1.NodeOverviewList) []string { return list.Incomplete },
		print:      printer.NodeOverviews,
		after:      afterNodes,
	})
	cmd.Flags().BoolVar(&full, "full", false, "With -o json, yaml and templates, add the percentages, samples and thresholds that the load was judged by")
	return cmd
}

// needsBalance is true where the view of koord-descheduler is shown or ordered by. The default table and names do without its configuration.
func needsBalance(q query) bool {
	return q.format != "" && q.format != "name" || strings.Contains(q.order, "balance")
}

// afterNodes are the sums of several nodes, and the commands that lead on from what keeps pods off nodes.
func afterNodes(list *diagnosticsv1alpha1.NodeOverviewList, program string) []string {
	var lines []string
	if len(list.Items) > 1 {
		lines = append(lines, printer.NodeTotal(list))
	}
	return append(lines, printer.NodeNextCommands(list, program)...)
}
