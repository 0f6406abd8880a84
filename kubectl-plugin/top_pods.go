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

  # Show the pods of a node, and the containers of YARN there
  %[1]s top pods -A --node worker-1 --containers

  # Show best-effort pods and their nodes
  %[1]s top pods -A -l koordinator.sh/qosClass=BE`

func newTopPodsCommand(s *session) *cobra.Command {
	var node nodeFlag
	var containers bool
	cmd := newListingCommand(s, source.KindPod, listing[pod, diagnosticsv1alpha1.PodOverviewList]{
		help:   help{short: "Show pods: QoS class, priority band, request and use", long: topPodsLong, examples: topPodsExamples},
		orders: podOrders,
		fields: podFields,
		ask: func(ctx context.Context, src source.Source, q query) (*diagnosticsv1alpha1.PodOverviewList, error) {
			if containers && node == "" {
				return nil, usage("--containers needs --node: containers are known to the agent of their node")
			}
			list, err := src.Pods(ctx, source.PodQuery{
				Namespace: q.namespace, Names: q.names, LabelSelector: q.labels, FieldSelector: q.fields, NodeName: string(node),
			})
			if err != nil || !containers {
				return list, err
			}
			return list, addContainers(ctx, src, string(node), list)
		},
		items:      func(list *diagnosticsv1alpha1.PodOverviewList) *[]pod { return &list.Items },
		incomplete: func(list *diagnosticsv1alpha1.PodOverviewList) []string { return list.Incomplete },
		print:      printer.PodOverviews,
		after: func(list *diagnosticsv1alpha1.PodOverviewList, _ string) []string {
			if containers && len(list.Agents)+len(list.Incomplete) == 0 {
				return []string{"koordlet follows no agent of another scheduler on this node"}
			}
			return nil
		},
	})
	cmd.Flags().Var(&node, "node", "Show only pods on this node")
	cmd.Flags().BoolVar(&containers, "containers", false, "Also show the containers of other schedulers, such as YARN, on the node of --node")
	must(cmd.RegisterFlagCompletionFunc("node", completeNames(s, source.KindNode, 0)))
	return cmd
}

// mostContainers of an agent are asked for.
const mostContainers = 1000

// addContainers adds the containers that the agents of other schedulers have on a node.
func addContainers(ctx context.Context, src source.Source, node string, list *diagnosticsv1alpha1.PodOverviewList) error {
	answer, err := src.ExplainNode(ctx, node, diagnosticsv1alpha1.NodeExplanationSpec{NodeName: node, Agent: &diagnosticsv1alpha1.AgentQuestion{
		Sections: []diagnosticsv1alpha1.AgentSection{diagnosticsv1alpha1.SectionContainers}, MaxCandidates: new(int32(mostContainers)),
	}})
	if err != nil {
		return err
	}
	list.Incomplete = append(list.Incomplete, unseen(answer)...)
	if agent := answer.Status.Agent; agent != nil {
		list.Agents = agent.Agents
	}
	return nil
}
