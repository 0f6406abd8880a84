package kubectlplugin

import (
	"context"

	"github.com/spf13/cobra"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

const topPodsLong = `Show pods with their QoS class, priority band, requests and usage.

  TIER      resources that are requested: plain, mid or batch
  CPU-USED  as measured, in cores; <unknown> if no NodeMetric reports the pod, or you may not read NodeMetrics
  AGE       of the measurement; <unknown> if you may not read NodeMetrics`

const topPodsExamples = `  # Show the pods of the current namespace
  %[1]s top pods

  # Show the pods of a node, the highest memory usage first
  %[1]s top pods -A --node worker-1 --sort-by=memory

  # Show best-effort pods and their nodes
  %[1]s top pods -A -l koordinator.sh/qosClass=BE`

func newTopPodsCommand(s *session) *cobra.Command {
	var node nodeFlag
	cmd := newListingCommand(s, source.KindPod, listing[pod, diagnosticsv1alpha1.PodOverviewList]{
		help:   help{short: "Show pods: QoS class, priority band, request and use", long: topPodsLong, examples: topPodsExamples},
		orders: podOrders,
		fields: podFields,
		ask: func(ctx context.Context, src source.Source, q query) (*diagnosticsv1alpha1.PodOverviewList, error) {
			return src.Pods(ctx, source.PodQuery{
				Namespace: q.namespace, Names: q.names, LabelSelector: q.labels, FieldSelector: q.fields, NodeName: string(node),
			})
		},
		items:      func(list *diagnosticsv1alpha1.PodOverviewList) *[]pod { return &list.Items },
		incomplete: func(list *diagnosticsv1alpha1.PodOverviewList) []string { return list.Incomplete },
		print:      printer.PodOverviews,
	})
	cmd.Flags().Var(&node, "node", "Show only pods on this node")
	must(cmd.RegisterFlagCompletionFunc("node", completeNames(s, source.KindNode, 0)))
	return cmd
}
