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

const topPodsLong = `Show pods with their QoS class, priority band and what they use of what they request.

  TIER      resources the request is made in: plain, mid or batch
  CPU-USED  as measured, in cores; <unknown> when no NodeMetric reports the pod, or you may not read NodeMetrics
  AGE       of the measurement; <unknown> when you may not read NodeMetrics`

const topPodsExamples = `  # Pods of the context's namespace
  %[1]s top pods

  # What runs on a node, the largest user of memory first
  %[1]s top pods -A --node worker-1 --sort-by=memory

  # Batch pods and where they are
  %[1]s top pods -A -l koordinator.sh/qosClass=BE`

type topPodsOptions struct {
	topNamespacedOptions
	node string
}

func newTopPodsCommand(s *session) *cobra.Command {
	o := &topPodsOptions{topNamespacedOptions: topNamespacedOptions{topOptions: topOptions{orders: words(podOrders)}, kind: "pod"}}
	cmd := &cobra.Command{
		Use:               "pods [NAME...]",
		Aliases:           []string{"pod", "po"},
		Short:             "Show pods: QoS class, priority band, request and use",
		Long:              topPodsLong,
		Example:           fmt.Sprintf(topPodsExamples, s.Name),
		ValidArgsFunction: completeNames(s, source.KindPod, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(s, args); err != nil {
				return err
			}
			return runTop(cmd.Context(), s, &o.topOptions, overview[*diagnosticsv1alpha1.PodOverviewList]{
				ask: o.ask, changed: changedPods,
				missing: func(list *diagnosticsv1alpha1.PodOverviewList) []string { return list.Incomplete },
				show: func(list *diagnosticsv1alpha1.PodOverviewList, first bool) error {
					return o.show(s, list, len(list.Items), first, func(w io.Writer, options printer.Options) error {
						return printer.PodOverviews(w, list, options)
					})
				},
			})
		},
	}
	o.addFlags(cmd, "name, node, qos, cpu, memory, cpu-request, memory-request")
	addFieldSelector(cmd, &o.fields, podFields)
	cmd.Flags().Var((*nodeFlag)(&o.node), "node", "Show only the pods bound to this node")
	must(cmd.RegisterFlagCompletionFunc("node", completeNames(s, source.KindNode, 0)))
	return cmd
}

func (o *topPodsOptions) ask(ctx context.Context, src source.Source) (*diagnosticsv1alpha1.PodOverviewList, error) {
	list, err := src.Pods(ctx, source.PodQuery{Namespace: o.namespace, Names: o.names, LabelSelector: o.selector, FieldSelector: o.fields, NodeName: o.node})
	if err != nil {
		return nil, err
	}
	return list, sortItems(list.Items, podOrders, o.sortBy)
}
