package kubectlplugin

import (
	"context"

	"github.com/spf13/cobra"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

const topNodesLong = `Show per node what is offered, requested and used, what load-aware scheduling thinks of it, and how old the data is.

  LOAD                  the load-aware scheduler's view: Normal, Hot, Expired or Unknown
  CPU-USED, MEM-USED    used / allocatable before amplification, as measured on the whole node
  PROD-CPU, PROD-MEM    used / requested by pods that are neither mid, batch nor free
  MID-CPU, MID-MEM      requested / offered in node.status
  BATCH-CPU, BATCH-MEM  requested / offered in node.status
  AGE                   of the measurements, with their state unless they are fresh

With -o wide also use by the system, by batch and by free pods, and what the agent predicts to be reclaimable. CPU is in
cores. A question mark is a value that nobody measured, or that you may not read; standard error says which.`

const topNodesExamples = `  # All nodes
  %[1]s top nodes

  # The nodes of a pool, the fullest first, with every column
  %[1]s top nodes -l pool=shared --sort-by=cpu -o wide

  # By what the load of a node is judged
  %[1]s top nodes worker-1 -o yaml --full

  # One value of one node
  %[1]s top nodes worker-1 -o jsonpath='{.items[0].cpu.batchAllocatable}'`

func newTopNodesCommand(s *session) *cobra.Command {
	full := false // adds to objects what the load was judged by
	cmd := newListingCommand(s, source.KindNode, listing[node, diagnosticsv1alpha1.NodeOverviewList]{
		help:   help{short: "Show nodes: offered, requested, used, load and age of the data", long: topNodesLong, examples: topNodesExamples},
		orders: nodeOrders,
		fields: nodeFields,
		ask: func(ctx context.Context, src source.Source, q query) (*diagnosticsv1alpha1.NodeOverviewList, error) {
			return src.Nodes(ctx, source.NodeQuery{Names: q.names, LabelSelector: q.labels, FieldSelector: q.fields, Operands: full})
		},
		items:      func(list *diagnosticsv1alpha1.NodeOverviewList) *[]node { return &list.Items },
		incomplete: func(list *diagnosticsv1alpha1.NodeOverviewList) []string { return list.Incomplete },
		print:      printer.NodeOverviews,
		after:      afterNodes,
	})
	cmd.Flags().BoolVar(&full, "full", false, "With -o json, yaml and templates, add the percentages, samples and thresholds that the load was judged by")
	return cmd
}

// afterNodes are the sums of several nodes, and the commands that lead on from what keeps pods off nodes.
func afterNodes(list *diagnosticsv1alpha1.NodeOverviewList, program string) []string {
	var lines []string
	if len(list.Items) > 1 {
		lines = append(lines, printer.NodeTotal(list))
	}
	return append(lines, printer.NodeNextCommands(list, program)...)
}
