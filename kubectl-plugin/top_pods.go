package kubectlplugin

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

const topPodsLong = `Show pods with their QoS class, priority band and what they use of what they request.

  TIER      resources the request is made in: plain, mid or batch
  CPU-USED  as measured, in cores; <unknown> when no NodeMetric reports the pod
  AGE       of the measurement`

const topPodsExamples = `  # Pods of the context's namespace
  %[1]s top pods

  # What runs on a node, the largest user of memory first
  %[1]s top pods -A --node worker-1 --sort-by=memory

  # Batch pods and where they are
  %[1]s top pods -A -l koordinator.sh/qosClass=BE`

type topPodsOptions struct {
	topOptions
	query         source.PodQuery
	allNamespaces bool
}

func newTopPodsCommand(s *session) *cobra.Command {
	o := &topPodsOptions{topOptions: topOptions{orders: podOrderNames()}}
	cmd := &cobra.Command{
		Use:               "pods [NAME...]",
		Aliases:           []string{"pod", "po"},
		Short:             "Show pods: QoS class, priority band, request and use",
		Long:              topPodsLong,
		Example:           fmt.Sprintf(topPodsExamples, s.Name),
		ValidArgsFunction: completeNames(s, source.KindPod, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(s, args); err != nil {
				return err
			}
			return runTop(cmd.Context(), s, &o.topOptions, overview[*diagnosticsv1alpha1.PodOverviewList]{
				ask: o.ask, changed: changedPods,
				missing: func(list *diagnosticsv1alpha1.PodOverviewList) []string { return list.Incomplete },
				show:    func(list *diagnosticsv1alpha1.PodOverviewList, first bool) error { return o.show(s, list, first) },
			})
		},
	}
	o.addFlags(cmd, "name, node, qos, cpu, memory, cpu-request, memory-request")
	cmd.Flags().BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "Show the pods of all namespaces")
	cmd.Flags().StringVar(&o.query.NodeName, "node", "", "Show only the pods bound to this node")
	must(cmd.RegisterFlagCompletionFunc("node", completeNames(s, source.KindNode, 0)))
	return cmd
}

func (o *topPodsOptions) complete(s *session, names []string) error {
	if len(names) > 0 && o.allNamespaces {
		return usage("names and --all-namespaces cannot be used together")
	}
	if err := o.topOptions.complete(names); err != nil {
		return err
	}
	o.query.Names, o.query.LabelSelector = names, o.selector
	if o.allNamespaces {
		return nil
	}
	var err error
	o.query.Namespace, err = s.namespace()
	return err
}

func (o *topPodsOptions) ask(ctx context.Context, src source.Source) (*diagnosticsv1alpha1.PodOverviewList, error) {
	list, err := src.Pods(ctx, o.query)
	if err != nil {
		return nil, err
	}
	return list, sortPods(list.Items, o.sortBy)
}

func (o *topPodsOptions) show(s *session, list *diagnosticsv1alpha1.PodOverviewList, first bool) error {
	if len(list.Items) == 0 && o.text() {
		switch {
		case first && o.query.Namespace == "":
			fmt.Fprintln(s.Streams.ErrOut, "No pods found.")
		case first:
			fmt.Fprintf(s.Streams.ErrOut, "No pods found in namespace %s; -A shows all namespaces.\n", o.query.Namespace)
		}
		return nil
	}
	return o.print(s, list, "pod", func(w io.Writer, options printer.Options) error {
		options.NoHeaders = options.NoHeaders || !first
		options.WithNamespace = o.query.Namespace == ""
		return printer.PodOverviews(w, list, options)
	})
}
