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

const explainNodeLong = `Explain where a node's batch and mid resources come from: capacity, minus the safety margin, minus the system, minus what
services use or request. Each term has its value, unit, the object it was read from and its age; below are the reason why
node.status differs, if it does, and the layer of the configuration that each setting comes from.

With features, cpus, suppress or containers, the agent of the node is asked: which of its features are enabled, configured,
supported by the kernel and in force; which CPUs are shared and which pods own the others; how much CPU best-effort pods may
use; and which containers of other schedulers, such as YARN, run on the node, in the order in which they would be evicted. If no
agent answers, the answer is from API objects only, and says what is missing.

CPUs are drawn by socket, NUMA node and core: a letter for each CPU, hyperthreads of a core beside each other, and at the beginning of
a line the CPUs of its first core. The legend below says what the letters stand for.`

const explainNodeExamples = `  # Explain all four resources
  %[1]s explain node worker-1

  # Explain one resource, with the pods behind each sum
  %[1]s explain node worker-1 batch-cpu --parts 20

  # Show whether the agent does what is configured
  %[1]s explain node worker-1 features

  # Show how much CPU best-effort pods may use, and why
  %[1]s explain node worker-1 suppress

  # Show the containers of YARN, those first that would be evicted first
  %[1]s explain node worker-1 containers

  # Show a map of the CPUs, and which pods own which
  %[1]s explain node worker-1 cpus

  # Print the computed value only
  %[1]s explain node worker-1 batch-cpu -o jsonpath='{.status.waterfalls[0].result}'`

var explainable = []string{"batch-cpu", "batch-memory", "mid-cpu", "mid-memory", "containers", "cpus", "features", "suppress"}

// agentSections are those of explainable that the agent of the node answers.
var agentSections = map[string]diagnosticsv1alpha1.AgentSection{
	"containers": diagnosticsv1alpha1.SectionContainers, "cpus": diagnosticsv1alpha1.SectionCPUs, "features": diagnosticsv1alpha1.SectionFeatures, "suppress": diagnosticsv1alpha1.SectionSuppression,
}

type explainNodeOptions struct {
	explained
	gate
	name      string
	resources []string
	parts     int32
}

func newExplainNodeCommand(s *session) *cobra.Command {
	o := &explainNodeOptions{}
	cmd := newObjectCommand(s, source.KindNode, help{
		short: "Explain a node's batch and mid resources, its CPUs, and what its agent does", long: explainNodeLong, examples: explainNodeExamples,
		answer: "NodeExplanation",
	}, o)
	cmd.Use += " [" + strings.Join(explainable, "|") + "]"
	cmd.Args = explainNodeArguments
	completeName := cmd.ValidArgsFunction
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return explainable, cobra.ShellCompDirectiveNoFileComp
		}
		return completeName(cmd, args, prefix)
	}
	o.explained.addFlags(cmd)
	o.gate.addFlags(cmd)
	cmd.Flags().Int32Var(&o.parts, "parts", 0, "List up to this many parts of each term, such as the pods of a sum; 10 with -o wide")
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

func (o *explainNodeOptions) complete(cmd *cobra.Command, s *session, args []string) error {
	var err error
	if _, o.name, err = s.object(source.KindNode, args[0]); err != nil {
		return err
	}
	o.resources = args[1:]
	if o.parts < 0 || o.parts > 1000 {
		return usage("--parts %d: must be 0 to 1000", o.parts)
	}
	if o.wide() && !cmd.Flags().Changed("parts") {
		o.parts = 10
	}
	if err := o.gate.complete(); err != nil {
		return err
	}
	return o.explained.complete()
}

func (o *explainNodeOptions) run(ctx context.Context, s *session) error {
	src, err := s.connect()
	if err != nil {
		return err
	}
	spec := o.spec()
	if o.parts > 0 {
		spec.MaxParts = &o.parts
	}
	answer, err := src.ExplainNode(ctx, o.name, spec)
	if err != nil {
		return err
	}
	var brief func(printer.Options) printer.Brief // the agent's sections have none
	if spec.Agent == nil {
		brief = func(printer.Options) printer.Brief { return printer.BriefNode(answer) }
	}
	err = o.print(s, answer, source.KindNode.Name, brief, func(w io.Writer, options printer.Options) error {
		options.Parts = int(o.parts)
		if spec.Agent != nil {
			return o.printAgent(w, answer, options)
		}
		return printer.NodeExplanation(w, answer, options)
	})
	if err != nil {
		return err
	}
	return o.check(s, answer.Status.Findings, unseen(answer))
}

// spec separates the resources from what the agent is asked.
func (o *explainNodeOptions) spec() diagnosticsv1alpha1.NodeExplanationSpec {
	var spec diagnosticsv1alpha1.NodeExplanationSpec
	for _, subject := range o.resources {
		section, ofAgent := agentSections[subject]
		if !ofAgent {
			spec.Resources = append(spec.Resources, subject)
			continue
		}
		if spec.Agent == nil {
			spec.Agent = &diagnosticsv1alpha1.AgentQuestion{}
			if o.parts > 0 {
				spec.Agent.MaxCandidates = &o.parts
			}
		}
		spec.Agent.Sections = append(spec.Agent.Sections, section)
	}
	return spec
}

// printAgent prints the resources first when both were asked for.
func (o *explainNodeOptions) printAgent(w io.Writer, answer *diagnosticsv1alpha1.NodeExplanation, options printer.Options) error {
	if agent := answer.Status.Agent; agent != nil && slices.Contains(o.resources, "containers") && len(agent.Agents)+len(agent.Incomplete) == 0 {
		if err := printer.NoContainerAgents(w, options); err != nil {
			return err
		}
	}
	if len(answer.Spec.Resources) == 0 {
		return printer.AgentExplanation(w, answer, options)
	}
	resources := answer.DeepCopy()
	resources.Status.Findings, resources.Status.Origin = nil, diagnosticsv1alpha1.Origin{}
	if err := printer.NodeExplanation(w, resources, options); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return printer.AgentExplanation(w, answer, options)
}

// unseen is what an answer lacks, that of the agent included.
func unseen(answer *diagnosticsv1alpha1.NodeExplanation) []string {
	missing := answer.Status.Incomplete
	if answer.Status.Agent != nil {
		missing = append(slices.Clone(missing), answer.Status.Agent.Incomplete...)
	}
	return missing
}
