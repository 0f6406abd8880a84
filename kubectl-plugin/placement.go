package kubectlplugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

// placementOptions are those of the commands that ask where pods would get nodes.
type placementOptions struct {
	output
	gate
	query source.PlacementQuery
}

func (o *placementOptions) addFlags(cmd *cobra.Command) {
	o.output.addFlags(cmd, true)
	o.gate.addFlags(cmd)
}

// complete checks the flags. Pods that wait are placed first where nodes are added, as they would take them before others come.
func (o *placementOptions) complete() error {
	o.query.Waiting = len(o.query.NewNodes) > 0
	if err := o.gate.complete(); err != nil {
		return err
	}
	return o.output.complete()
}

func (o *placementOptions) run(ctx context.Context, s *session) error {
	answer, err := o.ask(ctx, s)
	if err != nil {
		return err
	}
	return o.report(s, answer)
}

func (o *placementOptions) ask(ctx context.Context, s *session) (*diagnosticsv1alpha1.PlacementForecast, error) {
	src, err := s.connect()
	if err != nil {
		return nil, err
	}
	forecaster, can := src.(source.PlacementForecaster)
	if !can {
		return nil, errors.New("this source does not forecast placements")
	}
	defer s.collectLess()()
	return forecaster.ForecastPlacement(ctx, o.query)
}

// report prints the forecast, and fails where the flags say so.
func (o *placementOptions) report(s *session, answer *diagnosticsv1alpha1.PlacementForecast) error {
	if err := o.show(s, answer); err != nil {
		return err
	}
	return o.check(s, answer.Findings, answer.Incomplete)
}

// show prints the forecast; by name, the nodes that take pods.
func (o *placementOptions) show(s *session, answer *diagnosticsv1alpha1.PlacementForecast) error {
	if o.format != "name" {
		return o.print(s, answer, "", func(w io.Writer, options printer.Options) error { return printer.PlacementForecast(w, answer, options) })
	}
	var nodes []string
	for i := range answer.Waiting {
		nodes = append(nodes, answer.Waiting[i].Node)
	}
	if answer.Copies != nil {
		for _, node := range answer.Copies.Nodes {
			nodes = append(nodes, node.Name)
		}
	}
	slices.Sort(nodes)
	for _, node := range slices.Compact(nodes) {
		if node == "" {
			continue
		}
		if _, err := fmt.Fprintf(s.Streams.Out, "%s/%s\n", source.KindNode.Name, node); err != nil {
			return err
		}
	}
	return nil
}

// copied reads which pods are copied: TYPE/NAME or TYPE NAME.
func (o *placementOptions) copied(s *session, kinds []source.Kind, args []string) error {
	word, name, typed := strings.Cut(args[0], "/")
	if len(args) == 2 {
		if typed {
			return usage("%q: there is no need to specify a type as a separate argument when passing arguments in TYPE/NAME form", args[0])
		}
		word, name = args[0], args[1]
	}
	at := slices.IndexFunc(kinds, func(kind source.Kind) bool { return isWordFor(kind, word) })
	if at < 0 || name == "" || strings.Contains(name, "/") {
		return usage("%q: must be TYPE/NAME, with one of the types %s", strings.Join(args, " "), strings.Join(singular(kinds), ", "))
	}
	namespace, err := s.namespace()
	o.query.Copied.Kind, o.query.Copied.Namespace, o.query.Copied.Name = kinds[at], namespace, name
	return err
}

// newNodesFlag reads NODE=COUNT, and may be given several times.
type newNodesFlag []diagnosticsv1alpha1.PlacementReviewNodes

// Set reads one value.
func (f *newNodesFlag) Set(text string) error {
	name, count, counted := strings.Cut(text, "=")
	of := diagnosticsv1alpha1.PlacementReviewNodes{Count: 1}
	if err := (*nodeFlag)(&of.Like).Set(name); err != nil {
		return err
	}
	if counted {
		n, err := strconv.ParseInt(count, 10, 32)
		if err != nil {
			return fmt.Errorf("must be NODE=COUNT: %q is not a number", count)
		}
		of.Count = int32(n)
	}
	var all int32
	for _, other := range append(*f, of) {
		all += min(other.Count, diagnosticsv1alpha1.MaxPlacementReviewNodes+1)
	}
	if of.Like == "" || of.Count < 1 || all > diagnosticsv1alpha1.MaxPlacementReviewNodes {
		return fmt.Errorf("must be NODE=COUNT, with 1 to %d nodes in all", diagnosticsv1alpha1.MaxPlacementReviewNodes)
	}
	*f = append(*f, of)
	return nil
}

// String lists the values.
func (f *newNodesFlag) String() string {
	parts := make([]string, len(*f))
	for i, of := range *f {
		parts[i] = fmt.Sprintf("%s=%d", of.Like, of.Count)
	}
	return strings.Join(parts, ",")
}

// Type names the value in usage texts.
func (f *newNodesFlag) Type() string { return "node=count" }

// addNewNodesFlag adds a flag for nodes that join.
func (o *placementOptions) addNewNodesFlag(cmd *cobra.Command, s *session, name, what string) {
	cmd.Flags().Var((*newNodesFlag)(&o.query.NewNodes), name, what)
	must(cmd.RegisterFlagCompletionFunc(name, completeNodes(s)))
}

// completeNodes completes the names of nodes that new ones are like.
func completeNodes(s *session) cobra.CompletionFunc { return completeNames(s, source.KindNode, 0) }

// completeCopied completes TYPE/NAME for some kinds.
func completeCopied(s *session, kinds []source.Kind) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		word, _, slashed := strings.Cut(prefix, "/")
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		if !slashed {
			words := make([]string, len(kinds))
			for i, kind := range kinds {
				words[i] = kind.Name + "/"
			}
			return matching(words, nil, prefix), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}
		for _, kind := range kinds {
			if isWordFor(kind, word) {
				return completeNames(s, kind, 1)(cmd, args, prefix)
			}
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}
