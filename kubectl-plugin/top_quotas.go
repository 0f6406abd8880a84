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
	"koordinator.sh/koord/decision/scheduling/quotaview"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

const topQuotasLong = `Show ElasticQuotas: what each is guaranteed, may use now, uses and is asked for, as koord-scheduler published it.

  STATE      Invalid, Overused (uses more than its runtime), Waiting (pods request more than the runtime), Unknown (no runtime is
             published), Borrows (uses more than min), Lends (others may use its min), Normal
  CPU-MIN    guaranteed
  CPU-USED   used by pods with a node / runtime, which is the most that may be used now
  CPU-REQ    requested by all pods, also those without a node
  CPU-SHARE  on wide terminals: used within min, borrowed, free of the runtime, requested beyond it; a line marks min

CPU is in cores. The columns of memory are alike; -o wide adds those of all other resources, max and the reason of the state. Amounts
of a quota include those of the quotas below it, which koordctl tree quota draws.`

const topQuotasExamples = `  # Show the quotas of all namespaces
  %[1]s top quotas -A

  # Show the quotas of a namespace, the gravest state first
  %[1]s top quotas -n teams --sort-by=state

  # Show every resource, max and why a quota is in its state
  %[1]s top quotas -A -o wide

  # Print the quotas whose pods wait
  %[1]s top quotas -A -o jsonpath='{.items[?(@.state=="Waiting")].metadata.name}'`

type quotaOverview = diagnosticsv1alpha1.QuotaOverview

// quotaOrders are the words of --sort-by for quotas. Amounts come largest first, a missing one last; the gravest state first.
var quotaOrders = []order[quotaOverview]{
	{"name", func(a, b *quotaOverview) int { return strings.Compare(a.Name, b.Name) }},
	{"state", func(a, b *quotaOverview) int { return cmp.Compare(quotaview.Rank(a.State), quotaview.Rank(b.State)) }},
	{"cpu", func(a, b *quotaOverview) int { return largestFirst(quotaUsed(a, "cpu"), quotaUsed(b, "cpu")) }},
	{"memory", func(a, b *quotaOverview) int { return largestFirst(quotaUsed(a, "memory"), quotaUsed(b, "memory")) }},
	{"cpu-request", func(a, b *quotaOverview) int { return largestFirst(quotaAsked(a, "cpu"), quotaAsked(b, "cpu")) }},
	{"memory-request", func(a, b *quotaOverview) int { return largestFirst(quotaAsked(a, "memory"), quotaAsked(b, "memory")) }},
}

func quotaAmounts(q *quotaOverview, resource string) *diagnosticsv1alpha1.QuotaResource {
	at := slices.IndexFunc(q.Resources, func(r diagnosticsv1alpha1.QuotaResource) bool { return r.Resource == resource })
	if at < 0 {
		return &diagnosticsv1alpha1.QuotaResource{}
	}
	return &q.Resources[at]
}

func quotaUsed(q *quotaOverview, resource string) *int64  { return quotaAmounts(q, resource).Used }
func quotaAsked(q *quotaOverview, resource string) *int64 { return quotaAmounts(q, resource).Request }

func newTopQuotasCommand(s *session) *cobra.Command {
	return newListingCommand(s, source.KindQuota, listing[quotaOverview, diagnosticsv1alpha1.QuotaOverviewList]{
		help:   help{short: "Show ElasticQuotas: guaranteed, used, requested, and who borrows, lends and waits", long: topQuotasLong, examples: topQuotasExamples},
		orders: quotaOrders,
		ask: func(ctx context.Context, src source.Source, q query) (*diagnosticsv1alpha1.QuotaOverviewList, error) {
			viewer, can := src.(source.QuotaViewer)
			if !can {
				return nil, errors.New("list ElasticQuotas: not available from this source")
			}
			return viewer.QuotaOverviews(ctx, source.QuotaQuery{Namespace: q.namespace, Names: q.names, LabelSelector: q.labels})
		},
		items:      func(list *diagnosticsv1alpha1.QuotaOverviewList) *[]quotaOverview { return &list.Items },
		incomplete: func(list *diagnosticsv1alpha1.QuotaOverviewList) []string { return list.Incomplete },
		print:      printer.QuotaOverviews,
		after:      nextQuota,
	})
}

// nextQuota is the command that leads on from the gravest quota that has a problem.
func nextQuota(list *diagnosticsv1alpha1.QuotaOverviewList, program string) []string {
	if len(list.Items) == 0 {
		return nil
	}
	q := slices.MinFunc(list.Items, func(a, b quotaOverview) int { return cmp.Compare(quotaview.Rank(a.State), quotaview.Rank(b.State)) })
	if !quotaview.IsProblem(q.State) {
		return nil
	}
	line := fmt.Sprintf("%s is %s, %s: see %s explain quota %s -n %s", q.Name, q.State, q.Reason, program, q.Name, q.Namespace)
	return []string{printer.Style{}.Clean(line)}
}
