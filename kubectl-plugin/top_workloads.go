package kubectlplugin

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	podoverview "koordinator.sh/koord/decision/noderesource/overview"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

const topWorkloadsLong = `Show workloads, such as Deployments, with what their pods request, use and leave idle, and what Recommendations say that they should
request. Pods that have ended do not count.

  CPU-IDLE  requests of measured pods that they do not use; a pod that uses more than it requests does not make up for others
  CPU-REC   what Recommendations say, over the pods that have one
  BATCH     share of the CPU requests in batch resources
  AGE       of the oldest measurement

--group-by puts pods into rows by something else than workloads, and may be given several times: workload, namespace, node, band, qos,
tier, or label:KEY.`

const topWorkloadsExamples = `  # Show which workloads leave most CPU idle
  %[1]s top workloads -A --sort-by=cpu-idle

  # Show namespaces
  %[1]s top workloads -A --group-by namespace

  # Show what each team requests and uses in each band
  %[1]s top workloads -A --group-by label:team --group-by band`

type workload = diagnosticsv1alpha1.WorkloadOverview

// workloadOrders are the words of --sort-by for workloads. Amounts come largest first, a missing one last.
var workloadOrders = []order[workload]{
	{"name", func(a, b *workload) int { return strings.Compare(a.Name, b.Name) }},
	{"pods", func(a, b *workload) int { return cmp.Compare(b.Pods, a.Pods) }},
	{"cpu", func(a, b *workload) int { return largestFirst(a.CPU.Used, b.CPU.Used) }},
	{"memory", func(a, b *workload) int { return largestFirst(a.Memory.Used, b.Memory.Used) }},
	{"cpu-request", func(a, b *workload) int { return cmp.Compare(b.CPU.Requested, a.CPU.Requested) }},
	{"memory-request", func(a, b *workload) int { return cmp.Compare(b.Memory.Requested, a.Memory.Requested) }},
	{"cpu-idle", func(a, b *workload) int { return largestFirst(a.CPU.Idle, b.CPU.Idle) }},
	{"memory-idle", func(a, b *workload) int { return largestFirst(a.Memory.Idle, b.Memory.Idle) }},
}

func newTopWorkloadsCommand(s *session) *cobra.Command {
	var groups groupsFlag
	cmd := newListingCommand(s, source.KindWorkload, listing[workload, diagnosticsv1alpha1.WorkloadOverviewList]{
		help: help{
			short: "Show workloads: what their pods request, use and leave idle",
			long:  topWorkloadsLong, examples: topWorkloadsExamples,
		},
		orders: workloadOrders,
		fields: podFields,
		ask: func(ctx context.Context, src source.Source, q query) (*diagnosticsv1alpha1.WorkloadOverviewList, error) {
			lister, can := src.(source.WorkloadLister)
			if !can {
				return nil, errors.New("list workloads: not available from this source")
			}
			if len(q.names) > 0 && len(groups) > 0 {
				return nil, usage("names and --group-by cannot be used together")
			}
			return lister.Workloads(ctx, source.WorkloadQuery{
				Namespace: q.namespace, Names: q.names, LabelSelector: q.labels, FieldSelector: q.fields, Groups: groups,
			})
		},
		items:      func(list *diagnosticsv1alpha1.WorkloadOverviewList) *[]workload { return &list.Items },
		incomplete: func(list *diagnosticsv1alpha1.WorkloadOverviewList) []string { return list.Incomplete },
		print:      printer.WorkloadOverviews,
	})
	cmd.ValidArgsFunction = completeWorkloads(s)
	cmd.Flags().Var(&groups, "group-by", "Put pods into rows by "+groupWords()+"; may be given several times")
	must(cmd.RegisterFlagCompletionFunc("group-by", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return append(strings.Split(groupWords(), ", "), "label:"), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}))
	return cmd
}

// completeWorkloads completes the names of workloads, without their kinds.
func completeWorkloads(s *session) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		src, err := s.connect()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		namespace, err := s.namespace()
		lister, can := src.(source.WorkloadLister)
		if err != nil || !can {
			return nil, cobra.ShellCompDirectiveError
		}
		ctx, cancel := context.WithTimeout(contextOf(cmd), completionTimeout)
		defer cancel()
		list, err := lister.Workloads(ctx, source.WorkloadQuery{Namespace: namespace})
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		names := make([]string, len(list.Items))
		for i := range list.Items {
			_, names[i], _ = strings.Cut(list.Items[i].Name, "/")
		}
		slices.Sort(names)
		return matching(slices.Compact(names), args, prefix), cobra.ShellCompDirectiveNoFileComp
	}
}

func groupWords() string {
	words := make([]string, 0, len(podoverview.Groups())+1)
	for _, group := range podoverview.Groups() {
		words = append(words, string(group))
	}
	return strings.Join(append(words, "label:KEY"), ", ")
}

// groupsFlag reads groups, several of them separated by commas.
type groupsFlag []podoverview.Group

// Set adds the groups of one value.
func (f *groupsFlag) Set(text string) error {
	for word := range strings.SplitSeq(text, ",") {
		group, err := podoverview.ParseGroup(word)
		if err != nil {
			return err
		}
		*f = append(*f, group)
	}
	return nil
}

// String lists the groups.
func (f *groupsFlag) String() string {
	words := make([]string, len(*f))
	for i, group := range *f {
		words[i] = string(group)
	}
	return strings.Join(words, ",")
}

// Type names the value in usage texts.
func (*groupsFlag) Type() string { return "group" }
