package kubectlplugin

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

const explainRecommendationLong = `Explain a Recommendation: what its pods request, what is recommended and within which bounds, from which percentile of what
they used, how long they were observed and whether they ran out of memory; and what applying it would do to running pods, or
what prevents it: no annotation, too little observation, the budget, the cool-down, the node.

The figures are those of the Recommendation's status; the plan is what the recommender would do now.`

const explainRecommendationExamples = `  # Explain where the figures come from, and why they are not applied
  %[1]s explain recommendation checkout -n shop

  # List every pod that is affected
  %[1]s explain recommendation checkout -n shop -o wide

  # Print the pods that would be resized next
  %[1]s explain recommendation checkout -n shop -o jsonpath='{.application.pods[?(@.containers)].name}'`

type explainRecommendationOptions struct {
	explained
	strict    bool
	namespace string
	name      string
	pods      int32
}

func newExplainRecommendationCommand(s *session) *cobra.Command {
	o := &explainRecommendationOptions{}
	cmd := newObjectCommand(s, source.KindRecommendation, help{
		short: "Explain what a workload should request, and whether that is applied", long: explainRecommendationLong, examples: explainRecommendationExamples,
		answer: "RecommendationExplanation",
	}, o)
	o.explained.addFlags(cmd)
	addStrictFlag(cmd, &o.strict)
	cmd.Flags().Int32Var(&o.pods, "pods", 10, "List up to this many affected pods; all with -o wide")
	return cmd
}

func (o *explainRecommendationOptions) complete(_ *cobra.Command, s *session, args []string) error {
	var err error
	if o.namespace, o.name, err = s.object(source.KindRecommendation, args[0]); err != nil {
		return err
	}
	if o.pods < 0 || o.pods > 1000 {
		return usage("--pods %d: must be 0 to 1000", o.pods)
	}
	return o.explained.complete()
}

func (o *explainRecommendationOptions) run(ctx context.Context, s *session) error {
	src, err := s.connect()
	if err != nil {
		return err
	}
	list, err := recommendations(ctx, src, source.RecommendationQuery{Namespace: o.namespace, Names: []string{o.name}})
	if err != nil {
		return err
	}
	answer := &list.Items[0]
	brief := func(printer.Options) printer.Brief { return printer.BriefRecommendation(answer) }
	err = o.print(s, answer, source.KindRecommendation.Name, brief, func(w io.Writer, options printer.Options) error {
		options.Parts = int(o.pods)
		return printer.Recommendation(w, answer, options)
	})
	if err != nil {
		return err
	}
	return incomplete(s, answer.Incomplete, o.strict)
}
