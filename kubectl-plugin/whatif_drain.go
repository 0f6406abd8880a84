package kubectlplugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

const whatifDrainLong = `Show what kubectl drain would do to nodes, without doing it: which pods are evicted, with which flags, when PodDisruptionBudgets
let them go, which node each gets, and how full the other nodes are then.

  ROUND   a pod of a later round waits until replacements of earlier ones are ready; blocked if that never happens
  TO      the node that koord-scheduler would choose, by all of its plugins; none, lost where no controller creates the pod
          again, done where it needs no other node, unknown where koord-scheduler could not be asked or does not place it
  REQ     requests / allocatable of a node, before and after
  USED    measured usage / allocatable, before and after, with the usage of the pods that move

Several nodes are drained at the same time: none of them takes pods of another. -o wide lists all nodes and the reasons in
full. Nothing is cordoned or evicted.`

const whatifDrainExamples = `  # Show what draining a node does
  %[1]s whatif drain worker-1

  # Drain a pool, the largest pods first
  %[1]s whatif drain -l pool=old --sort-by=memory-request

  # Fail in a script if a pod would get no node or be blocked, or if that is not known
  %[1]s whatif drain worker-1 --fail-on=error --strict

  # Print the pods that would not get a node
  %[1]s whatif drain worker-1 -o jsonpath='{.pods[?(@.place=="None")].name}'`

type drainedPod = diagnosticsv1alpha1.DrainedPod

// drainOrders are the words of --sort-by for pods that leave.
var drainOrders = []order[drainedPod]{
	{"name", func(a, b *drainedPod) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	}},
	{"node", func(a, b *drainedPod) int { return strings.Compare(a.Node, b.Node) }},
	{"to", func(a, b *drainedPod) int { return strings.Compare(a.To, b.To) }},
	{"round", func(a, b *drainedPod) int { return cmp.Compare(a.Round, b.Round) }},
	{"priority", func(a, b *drainedPod) int { return cmp.Compare(b.Priority, a.Priority) }},
	{"cpu-request", func(a, b *drainedPod) int { return cmp.Compare(requestOf(b, "cpu"), requestOf(a, "cpu")) }},
	{"memory-request", func(a, b *drainedPod) int { return cmp.Compare(requestOf(b, "memory"), requestOf(a, "memory")) }},
}

// requestOf is what a pod requests of a resource, in whichever tier.
func requestOf(pod *drainedPod, resource string) int64 {
	var most int64
	for _, request := range pod.Requests {
		if request.Resource == resource || strings.HasPrefix(request.Resource, "kubernetes.io/") && strings.HasSuffix(request.Resource, "-"+resource) {
			most = max(most, request.Amount)
		}
	}
	return most
}

type whatifDrainOptions struct {
	output
	gate
	query  source.DrainQuery
	sortBy string
}

func newWhatifDrainCommand(s *session) *cobra.Command {
	o := &whatifDrainOptions{}
	cmd := &cobra.Command{
		Use:               "drain NODE...",
		Short:             "Show which pods a drain evicts, what holds it up, and where the pods go",
		Long:              whatifDrainLong,
		Example:           fmt.Sprintf(whatifDrainExamples, s.Name),
		Annotations:       map[string]string{answerAnnotation: "DrainForecast"},
		ValidArgsFunction: completeNames(s, source.KindNode, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(s, args); err != nil {
				return err
			}
			return o.run(cmd.Context(), s)
		},
	}
	o.output.addFlags(cmd, true)
	o.gate.addFlags(cmd)
	cmd.Flags().StringVarP(&o.query.LabelSelector, "selector", "l", "", "Drain the nodes that this label selector selects, such as pool=old")
	cmd.Flags().StringVar(&o.sortBy, "sort-by", "", "Order pods by: "+orderNames(drainOrders)+"; default: problems first, then the order of eviction")
	must(cmd.RegisterFlagCompletionFunc("sort-by", cobra.FixedCompletions(words(drainOrders), cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

func (o *whatifDrainOptions) complete(s *session, args []string) error {
	switch {
	case len(args) == 0 && o.query.LabelSelector == "":
		return usage("a node name is required, or a label selector with -l")
	case len(args) > 0 && o.query.LabelSelector != "":
		return usage("node names and --selector cannot be used together")
	case o.sortBy != "" && !slices.Contains(words(drainOrders), o.sortBy):
		return usage("--sort-by %q: must be %s", o.sortBy, strings.Join(words(drainOrders), ", "))
	}
	if err := checkSelector(o.query.LabelSelector); err != nil {
		return err
	}
	var err error
	if len(args) > 0 {
		if _, o.query.Names, err = s.objects(source.KindNode, args); err != nil {
			return err
		}
	}
	if err := o.gate.complete(); err != nil {
		return err
	}
	return o.output.complete()
}

func (o *whatifDrainOptions) run(ctx context.Context, s *session) error {
	src, err := s.connect()
	if err != nil {
		return err
	}
	forecaster, can := src.(source.DrainForecaster)
	if !can {
		return errors.New("this source does not forecast drains")
	}
	defer s.collectLess()()
	answer, err := forecaster.ForecastDrain(ctx, o.query)
	if err != nil {
		return err
	}
	for _, by := range drainOrders {
		if by.name == o.sortBy {
			slices.SortStableFunc(answer.Pods, func(a, b drainedPod) int { return by.compare(&a, &b) })
		}
	}
	if len(answer.Nodes) == 0 && o.text() {
		s.tell("No nodes found")
		return o.check(s, answer.Findings, answer.Incomplete)
	}
	if err := o.show(s, answer); err != nil {
		return err
	}
	return o.check(s, answer.Findings, answer.Incomplete)
}

// show prints the forecast; by name, the pods that are evicted.
func (o *whatifDrainOptions) show(s *session, answer *diagnosticsv1alpha1.DrainForecast) error {
	if o.format != "name" {
		return o.print(s, answer, "", func(w io.Writer, options printer.Options) error { return printer.DrainForecast(w, answer, options) })
	}
	for i := range answer.Pods {
		if answer.Pods[i].Action == diagnosticsv1alpha1.DrainSkip {
			continue
		}
		if _, err := fmt.Fprintf(s.Streams.Out, "%s/%s\n", source.KindPod.Name, answer.Pods[i].Name); err != nil {
			return err
		}
	}
	return nil
}
