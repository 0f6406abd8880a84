package kubectlplugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

const forecastEvictionsLong = `Forecast evictions by node agents: how far each trigger is from its threshold, when it is reached at the current trend, and
which pods would be evicted, in order, with their sort keys. The decision is made by the agent's own code.

  NOW, AT  current value and threshold; for BECPUEvict the CPU satisfaction, where lower is worse
  MARGIN   by how much usage or requests may still grow
  IN       time until the trigger is reached; never if usage does not grow

-o wide also lists features that are disabled or have no threshold.`

const forecastEvictionsExamples = `  # Forecast all nodes
  %[1]s forecast evictions

  # Forecast one node, with the pods that would be evicted
  %[1]s forecast evictions worker-1

  # Print the nodes on which a trigger is reached now
  %[1]s forecast evictions -o jsonpath='{.items[?(@.status.agent.evictions.triggers[*].state=="triggered")].spec.nodeName}'`

func newForecastCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{Use: "forecast", Short: "Forecast evictions, migrations, jobs, and how many more pods fit", GroupID: "see"}
	cmd.AddCommand(newForecastEvictionsCommand(s), newForecastMigrationsCommand(s), newForecastCapacityCommand(s), newForecastJobCommand(s))
	return cmd
}

type forecastOptions struct {
	output
	gate
	node  string
	parts int32
}

func newForecastEvictionsCommand(s *session) *cobra.Command {
	o := &forecastOptions{}
	cmd := &cobra.Command{
		Use:               "evictions [NODE]",
		Aliases:           []string{"eviction"},
		Short:             "Forecast when pods are evicted from nodes, and which",
		Long:              forecastEvictionsLong,
		Example:           fmt.Sprintf(forecastEvictionsExamples, s.Name),
		Args:              atMostOne("node name"),
		ValidArgsFunction: completeNames(s, source.KindNode, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.name(s, args); err != nil {
				return err
			}
			if o.parts < 0 || o.parts > 1000 {
				return usage("--candidates %d: must be 0 to 1000", o.parts)
			}
			if err := o.gate.complete(); err != nil {
				return err
			}
			if err := o.output.complete(); err != nil {
				return err
			}
			return o.run(cmd.Context(), s)
		},
	}
	o.output.addFlags(cmd, true)
	o.gate.addFlags(cmd)
	cmd.Flags().Var((*nodeFlag)(&o.node), "node", "Forecast this node only, same as the argument")
	must(cmd.Flags().MarkHidden("node"))
	cmd.Flags().Int32Var(&o.parts, "candidates", 10, "List up to this many pods below each trigger")
	must(cmd.RegisterFlagCompletionFunc("node", completeNames(s, source.KindNode, 0)))
	return cmd
}

// name reads the node that is named, as an argument or by the flag.
func (o *forecastOptions) name(s *session, args []string) error {
	if len(args) == 0 {
		return nil
	}
	_, name, err := s.object(source.KindNode, args[0])
	if err != nil {
		return err
	}
	if o.node != "" && o.node != name {
		return usage("node %q and --node %q differ", name, o.node)
	}
	o.node = name
	return nil
}

func (o *forecastOptions) run(ctx context.Context, s *session) error {
	src, err := s.connect()
	if err != nil {
		return err
	}
	question := diagnosticsv1alpha1.NodeExplanationSpec{Agent: &diagnosticsv1alpha1.AgentQuestion{
		Sections: []diagnosticsv1alpha1.AgentSection{diagnosticsv1alpha1.SectionEvictions}, MaxCandidates: &o.parts,
	}}
	if o.node != "" {
		answer, err := src.ExplainNode(ctx, o.node, question)
		if err != nil {
			return err
		}
		err = o.print(s, answer, "node", func(w io.Writer, options printer.Options) error { return printer.AgentExplanation(w, answer, options) })
		if err != nil {
			return err
		}
		return o.check(s, answer.Status.Findings, unseen(answer))
	}
	defer s.collectLess()()
	list, found, missing, err := forecastAll(ctx, src, question)
	if err != nil {
		return err
	}
	err = o.print(s, list, "node", func(w io.Writer, options printer.Options) error { return printer.Forecasts(w, list, options) })
	if err != nil {
		return err
	}
	return o.check(s, found, missing)
}

// forecastAll asks every node. One that went meanwhile is left out, and what nodes have in common is missing once.
func forecastAll(ctx context.Context, src source.Source, question diagnosticsv1alpha1.NodeExplanationSpec) (*diagnosticsv1alpha1.NodeExplanationList, []diagnosticsv1alpha1.Finding, []string, error) {
	nodes, err := src.Names(ctx, source.KindNode, "", 0)
	if err != nil {
		return nil, nil, nil, err
	}
	explainer, can := src.(source.BatchExplainer)
	if !can {
		return nil, nil, nil, errors.New("this source explains one node at a time: specify a node")
	}
	list := &diagnosticsv1alpha1.NodeExplanationList{
		TypeMeta: diagnosticsType("NodeExplanationList"),
	}
	if list.Items, err = explainer.ExplainNodes(ctx, nodes, question); err != nil {
		return nil, nil, nil, err
	}
	var found []diagnosticsv1alpha1.Finding
	var missing []string
	silent := map[string]int{}
	for i := range list.Items {
		found = append(found, list.Items[i].Status.Findings...)
		for _, what := range unseen(&list.Items[i]) {
			if silent[what]++; silent[what] == 1 {
				missing = append(missing, what)
			}
		}
	}
	for i, what := range missing {
		if n := silent[what]; n > 1 {
			missing[i] = fmt.Sprintf("%s (%d nodes)", what, n)
		}
	}
	return list, found, slices.Clip(missing), nil
}
