package kubectlplugin

import (
	"context"
	"fmt"
	"io"
	"time"

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
	output
	watch
	strict        bool
	query         source.PodQuery
	allNamespaces bool
	sortBy        string
}

func newTopPodsCommand(s *session) *cobra.Command {
	o := &topPodsOptions{}
	cmd := &cobra.Command{
		Use:               "pods [NAME...]",
		Aliases:           []string{"pod", "po"},
		Short:             "Show pods: QoS class, priority band, request and use",
		Long:              topPodsLong,
		Example:           fmt.Sprintf(topPodsExamples, s.Name),
		ValidArgsFunction: completeNames(s, source.KindPod, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(cmd, s, args); err != nil {
				return err
			}
			return o.run(cmd.Context(), s)
		},
	}
	o.output.addFlags(cmd, true)
	o.watch.addFlags(cmd)
	addStrictFlag(cmd, &o.strict)
	cmd.Flags().BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "Show the pods of all namespaces")
	cmd.Flags().StringVarP(&o.query.LabelSelector, "selector", "l", "", "Label selector, as of kubectl -l")
	cmd.Flags().StringVar(&o.query.NodeName, "node", "", "Show only the pods bound to this node")
	cmd.Flags().StringVar(&o.sortBy, "sort-by", "", "Order by name, node, qos, cpu, memory, cpu-request, memory-request, or a JSONPath such as .cpu.used")
	must(cmd.RegisterFlagCompletionFunc("sort-by", cobra.FixedCompletions(podOrderNames(), cobra.ShellCompDirectiveNoFileComp)))
	must(cmd.RegisterFlagCompletionFunc("node", completeNames(s, source.KindNode, 1)))
	return cmd
}

func (o *topPodsOptions) complete(cmd *cobra.Command, s *session, args []string) error {
	o.query.Names = args
	switch {
	case len(args) > 0 && o.query.LabelSelector != "":
		return usage(cmd, "names and --selector cannot be used together")
	case len(args) > 0 && o.allNamespaces:
		return usage(cmd, "names and --all-namespaces cannot be used together")
	}
	if err := checkOrder(cmd, o.sortBy, podOrderNames()); err != nil {
		return err
	}
	if err := checkSelector(cmd, o.query.LabelSelector); err != nil {
		return err
	}
	if err := o.output.complete(); err != nil || o.allNamespaces {
		return err
	}
	var err error
	o.query.Namespace, err = s.namespace()
	return err
}

func (o *topPodsOptions) run(ctx context.Context, s *session) error {
	src, err := s.connect()
	if err != nil {
		return err
	}
	ask := func(ctx context.Context) (*diagnosticsv1alpha1.PodOverviewList, error) {
		list, err := src.Pods(ctx, o.query)
		if err != nil {
			return nil, err
		}
		return list, sortPods(list.Items, o.sortBy)
	}
	show := func(list *diagnosticsv1alpha1.PodOverviewList, first bool) error { return o.show(s, list, first) }
	if o.watch.on {
		q := question[*diagnosticsv1alpha1.PodOverviewList]{ask: ask, changed: changedPods, show: show}
		return repeat(ctx, s.Clock, time.Duration(o.watch.interval), q)
	}
	list, err := ask(ctx)
	if err != nil {
		return err
	}
	if err := show(list, true); err != nil {
		return err
	}
	return incomplete(s, list.Incomplete, o.strict)
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
