package kubectlplugin

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

const topRecommendationsLong = `Show Recommendations: what each container of a workload requests, what it should request according to its usage, and what
that saves over all pods.

  CPU-REQ   request of the pods; marked if outside the bounds, which -o wide shows
  SAVES     requests minus the target, over all pods; negative if they need more
  OBSERVED  how long the container was observed; at least a day is needed to apply
  APPLY     off, settled (within the bounds), due (resized next) or blocked; -o wide says why`

const topRecommendationsExamples = `  # Show the Recommendations of the current namespace
  %[1]s top recommendations

  # Show where the most CPU can be saved first
  %[1]s top recommendations -A --sort-by=cpu-savings

  # Show why they are not applied
  %[1]s top recommendations -A -o wide`

func newTopRecommendationsCommand(s *session) *cobra.Command {
	return newListingCommand(s, source.KindRecommendation, listing[recommendation, diagnosticsv1alpha1.RecommendationExplanationList]{
		help: help{
			short: "Show Recommendations: request, target, what it saves and whether it is applied",
			long:  topRecommendationsLong, examples: topRecommendationsExamples,
		},
		orders: recommendationOrders,
		ask: func(ctx context.Context, src source.Source, q query) (*diagnosticsv1alpha1.RecommendationExplanationList, error) {
			return recommendations(ctx, src, source.RecommendationQuery{Namespace: q.namespace, Names: q.names, LabelSelector: q.labels})
		},
		items:      func(list *diagnosticsv1alpha1.RecommendationExplanationList) *[]recommendation { return &list.Items },
		incomplete: func(list *diagnosticsv1alpha1.RecommendationExplanationList) []string { return list.Incomplete },
		print:      printer.Recommendations,
	})
}

// recommendations asks a source that has them.
func recommendations(ctx context.Context, src source.Source, query source.RecommendationQuery) (*diagnosticsv1alpha1.RecommendationExplanationList, error) {
	recommender, can := src.(source.Recommender)
	if !can {
		return nil, errors.New("list recommendations: not available from this source")
	}
	return recommender.Recommendations(ctx, query)
}
