package kubectlplugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/noderesource/workersview"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

const topWorkersLong = `Show ElasticWorkers: how many workers each engine has and gets, within which bounds, and what limits them, as koord-manager decided last.

  STATE       Sized, Suspended, TargetShared, TargetAutoscaled, TargetUnusable, Stale (koord-manager has stopped deciding) or Unprocessed
              (it has not decided yet)
  CURRENT     workers that the target was found with
  DESIRED     workers that it gets, once those that drain have finished
  LIMITED-BY  the term that determined the size, which koordctl explain workers draws
  DRAINING    workers that finish their work before they go
  AGE         how long ago koord-manager decided`

const topWorkersExamples = `  # Show the engines of all namespaces
  %[1]s top workers -A

  # Show those with most workers first, and why each has so many
  %[1]s top workers -A --sort-by=current -o wide

  # Print the engines that drain workers
  %[1]s top workers -A -o jsonpath='{.items[?(@.draining)].metadata.name}'`

type workersOverview = diagnosticsv1alpha1.WorkersExplanation

// workersOrders are the words of --sort-by for ElasticWorkers. Numbers come largest first, and the gravest state first.
var workersOrders = []order[workersOverview]{
	{"name", func(a, b *workersOverview) int { return strings.Compare(a.Name, b.Name) }},
	{"state", func(a, b *workersOverview) int {
		return cmp.Compare(workersview.Rank(a.State), workersview.Rank(b.State))
	}},
	{"current", func(a, b *workersOverview) int { return cmp.Compare(b.Current, a.Current) }},
	{"desired", func(a, b *workersOverview) int { return cmp.Compare(b.Desired, a.Desired) }},
	{"draining", func(a, b *workersOverview) int { return cmp.Compare(len(b.Draining), len(a.Draining)) }},
}

func newTopWorkersCommand(s *session) *cobra.Command {
	return newListingCommand(s, source.KindWorkers, listing[workersOverview, diagnosticsv1alpha1.WorkersExplanationList]{
		help:   help{short: "Show ElasticWorkers: current, desired, bounds, what limits them and how many drain", long: topWorkersLong, examples: topWorkersExamples},
		orders: workersOrders,
		ask: func(ctx context.Context, src source.Source, q query) (*diagnosticsv1alpha1.WorkersExplanationList, error) {
			lister, can := src.(source.WorkersLister)
			if !can {
				return nil, errors.New("list ElasticWorkers: not available from this source")
			}
			return lister.Workers(ctx, source.WorkersQuery{Namespace: q.namespace, Names: q.names, LabelSelector: q.labels})
		},
		items:      func(list *diagnosticsv1alpha1.WorkersExplanationList) *[]workersOverview { return &list.Items },
		incomplete: func(list *diagnosticsv1alpha1.WorkersExplanationList) []string { return list.Incomplete },
		print:      printer.WorkersList,
		after:      nextEngine,
	})
}

// nextEngine is the command that leads on from the gravest of the engines that have a problem.
func nextEngine(list *diagnosticsv1alpha1.WorkersExplanationList, program string) []string {
	if len(list.Items) == 0 {
		return nil
	}
	e := slices.MinFunc(list.Items, func(a, b workersOverview) int {
		return cmp.Compare(workersview.Rank(a.State), workersview.Rank(b.State))
	})
	if !workersview.IsProblem(e.State) {
		return nil
	}
	line := fmt.Sprintf("%s is %s, %s: see %s explain workers %s -n %s", e.Name, e.State, e.Message, program, e.Name, e.Namespace)
	return []string{printer.Style{}.Clean(line)}
}
