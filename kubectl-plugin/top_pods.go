package kubectlplugin

import (
	"context"

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
	cmd.Flags().Var(&node, "node", "Show only the pods bound to this node")
	must(cmd.RegisterFlagCompletionFunc("node", completeNames(s, source.KindNode, 0)))
	return cmd
}
