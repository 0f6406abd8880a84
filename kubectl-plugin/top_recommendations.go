package kubectlplugin

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

const topRecommendationsLong = `Show Recommendations: what each container of a workload requests, what it should request by what it used, and what that
saves in all pods together.

  CPU-REQ   of the pods; marked when it is outside of the bounds that -o wide shows
  SAVES     requests less the target, over all pods; negative when they need more
  OBSERVED  how long the container was observed, as far as it counts; a day is enough to apply
  APPLY     off, settled (all is within the bounds), due (resized next) or blocked; -o wide says why`

const topRecommendationsExamples = `  # Recommendations of the context's namespace
  %[1]s top recommendations

  # Where most can be saved
  %[1]s top recommendations -A --sort-by=cpu-savings

  # Why are they not applied?
  %[1]s top recommendations -A -o wide`

type topRecommendationsOptions struct{ topNamespacedOptions }

func newTopRecommendationsCommand(s *session) *cobra.Command {
	o := &topRecommendationsOptions{topNamespacedOptions{topOptions: topOptions{orders: words(recommendationOrders)}, kind: "recommendation"}}
	cmd := &cobra.Command{
		Use:               "recommendations [NAME...]",
		Aliases:           []string{"recommendation", "recom"},
		Short:             "Show Recommendations: request, target, what it saves and whether it is applied",
		Long:              topRecommendationsLong,
		Example:           fmt.Sprintf(topRecommendationsExamples, s.Name),
		ValidArgsFunction: completeNames(s, source.KindRecommendation, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(s, args); err != nil {
				return err
			}
			return runTop(cmd.Context(), s, &o.topOptions, overview[*diagnosticsv1alpha1.RecommendationExplanationList]{
				ask: o.ask, changed: changedRecommendations,
				missing: func(list *diagnosticsv1alpha1.RecommendationExplanationList) []string { return list.Incomplete },
				show: func(list *diagnosticsv1alpha1.RecommendationExplanationList, first bool) error {
					return o.show(s, list, len(list.Items), first, func(w io.Writer, options printer.Options) error {
						return printer.Recommendations(w, list, options)
					})
				},
			})
		},
	}
	o.addFlags(cmd, "name, target, age, cpu-savings, memory-savings")
	return cmd
}

func (o *topRecommendationsOptions) ask(ctx context.Context, src source.Source) (*diagnosticsv1alpha1.RecommendationExplanationList, error) {
	list, err := recommendations(ctx, src, source.RecommendationQuery{Namespace: o.namespace, Names: o.names, LabelSelector: o.selector})
	if err != nil {
		return nil, err
	}
	return list, sortItems(list.Items, recommendationOrders, o.sortBy)
}

// recommendations asks a source that can tell of them.
func recommendations(ctx context.Context, src source.Source, query source.RecommendationQuery) (*diagnosticsv1alpha1.RecommendationExplanationList, error) {
	recommender, can := src.(source.Recommender)
	if !can {
		return nil, errors.New("list recommendations: not available from this source")
	}
	return recommender.Recommendations(ctx, query)
}
