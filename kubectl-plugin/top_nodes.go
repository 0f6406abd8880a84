package kubectlplugin

import (
	"context"
	"fmt"
	"io"

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

type topNodesOptions struct {
	topOptions
	names []string
	// full adds to objects what the load was judged by.
	full bool
}

func newTopNodesCommand(s *session) *cobra.Command {
	o := &topNodesOptions{topOptions: topOptions{orders: words(nodeOrders)}}
	cmd := &cobra.Command{
		Use:               "nodes [NAME...]",
		Aliases:           []string{"node", "no"},
		Short:             "Show nodes: offered, requested, used, load and age of the data",
		Long:              topNodesLong,
		Example:           fmt.Sprintf(topNodesExamples, s.Name),
		ValidArgsFunction: completeNames(s, source.KindNode, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if _, o.names, err = s.objects(source.KindNode, args); err != nil {
				return err
			}
			if err := o.complete(args); err != nil {
				return err
			}
			return runTop(cmd.Context(), s, &o.topOptions, overview[*diagnosticsv1alpha1.NodeOverviewList]{
				ask: o.ask, changed: changedNodes,
				missing: func(list *diagnosticsv1alpha1.NodeOverviewList) []string { return list.Incomplete },
				show:    func(list *diagnosticsv1alpha1.NodeOverviewList, first bool) error { return o.show(s, list, first) },
			})
		},
	}
	o.addFlags(cmd, "name, load, age, cpu, memory, prod-cpu, batch-cpu, batch-memory")
	addFieldSelector(cmd, &o.fields, nodeFields)
	cmd.Flags().BoolVar(&o.full, "full", false, "With -o json, yaml and templates, add the percentages, samples and thresholds that the load was judged by")
	return cmd
}

func (o *topNodesOptions) ask(ctx context.Context, src source.Source) (*diagnosticsv1alpha1.NodeOverviewList, error) {
	list, err := src.Nodes(ctx, source.NodeQuery{Names: o.names, LabelSelector: o.selector, FieldSelector: o.fields, Operands: o.full})
	if err != nil {
		return nil, err
	}
	return list, sortItems(list.Items, nodeOrders, o.sortBy)
}

// show prints the nodes. Rows that a watch appends have no headers and no total.
func (o *topNodesOptions) show(s *session, list *diagnosticsv1alpha1.NodeOverviewList, first bool) error {
	if len(list.Items) == 0 && o.text() {
		if first {
			fmt.Fprintln(s.Streams.ErrOut, "No nodes found.")
		}
		return nil
	}
	err := o.print(s, list, "node", func(w io.Writer, options printer.Options) error {
		options.NoHeaders = options.NoHeaders || !first
		o.labels.set(&options)
		return printer.NodeOverviews(w, list, options)
	})
	if err == nil && first && o.text() && !o.noHeaders && len(list.Items) > 1 {
		_, err = fmt.Fprintln(s.Streams.ErrOut, printer.NodeTotal(list))
	}
	if err == nil && first && o.text() && !o.noHeaders {
		for _, line := range printer.NodeNextCommands(list, s.Name) {
			fmt.Fprintln(s.Streams.ErrOut, line)
		}
	}
	return err
}
