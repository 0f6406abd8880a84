package kubectlplugin

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

const explainNodeLong = `Explain where a node's batch and mid resources come from: capacity, less the safety margin, less the system, less what
services use or request. Each term has its value, unit, the object it was read from and how old that is; below it stands
why node.status differs, if it does, and which layer of the configuration each setting came from.`

const explainNodeExamples = `  # All four resources
  %[1]s explain node worker-1

  # One of them, with the pods behind each sum
  %[1]s explain node worker-1 batch-cpu --parts 20

  # The computed value alone
  %[1]s explain node worker-1 batch-cpu -o jsonpath='{.status.waterfalls[0].result}'`

var explainable = []string{"batch-cpu", "batch-memory", "mid-cpu", "mid-memory"}

type explainNodeOptions struct {
	output
	gate
	name      string
	resources []string
	parts     int32
}

func newExplainNodeCommand(s *session) *cobra.Command {
	o := &explainNodeOptions{}
	cmd := &cobra.Command{
		Use:     "node NAME [" + strings.Join(explainable, "|") + "]",
		Aliases: []string{"nodes", "no"},
		Short:   "Explain where a node's batch and mid resources come from",
		Long:    explainNodeLong,
		Example: fmt.Sprintf(explainNodeExamples, s.Name),
		Args:    explainNodeArguments,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return explainable, cobra.ShellCompDirectiveNoFileComp
			}
			return completeNames(s, source.KindNode, 1)(cmd, args, prefix)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(cmd, args); err != nil {
				return err
			}
			return o.run(cmd.Context(), s)
		},
	}
	o.output.addFlags(cmd, true)
	o.gate.addFlags(cmd)
	cmd.Flags().Int32Var(&o.parts, "parts", 0, "List up to this many parts below each term, such as the pods of a sum; 10 with -o wide")
	return cmd
}

func explainNodeArguments(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("the node's name is required")
	}
	for _, resource := range args[1:] {
		if !slices.Contains(explainable, resource) {
			return fmt.Errorf("resource %q: must be %s", resource, strings.Join(explainable, ", "))
		}
	}
	return nil
}

func (o *explainNodeOptions) complete(cmd *cobra.Command, args []string) error {
	o.name, o.resources = args[0], args[1:]
	if o.parts < 0 || o.parts > 1000 {
		return usage("--parts %d: must be 0 to 1000", o.parts)
	}
	if o.format == "wide" && !cmd.Flags().Changed("parts") {
		o.parts = 10
	}
	if err := o.gate.complete(); err != nil {
		return err
	}
	return o.output.complete()
}

func (o *explainNodeOptions) run(ctx context.Context, s *session) error {
	src, err := s.connect()
	if err != nil {
		return err
	}
	spec := diagnosticsv1alpha1.NodeExplanationSpec{Resources: o.resources}
	if o.parts > 0 {
		spec.MaxParts = &o.parts
	}
	answer, err := src.ExplainNode(ctx, o.name, spec)
	if err != nil {
		return err
	}
	err = o.print(s, answer, "node", func(w io.Writer, options printer.Options) error {
		options.Parts = int(o.parts)
		return printer.NodeExplanation(w, answer, options)
	})
	if err != nil {
		return err
	}
	return o.check(s, answer.Status.Findings, answer.Status.Incomplete)
}
