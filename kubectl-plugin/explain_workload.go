package kubectlplugin

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

const explainWorkloadLong = `Explain whether a workload has the pods that it wants, and what keeps those that it lacks: that they cannot be created, or what keeps them
from getting a node, such as their ElasticQuota. It also says what the pods request, use and leave idle, and what a Recommendation says that
they should request.`

const explainWorkloadExamples = `  # Explain why a Deployment does not have its pods
  %[1]s explain deployment web -n shop

  # Ask in short
  %[1]s why deployment/web -n shop

  # Print what holds the pods that wait
  %[1]s explain deployment web -n shop -o jsonpath='{.heldBy}'`

type explainWorkloadOptions struct {
	explained
	kind            source.Kind
	strict          bool
	namespace, name string
}

// newExplainWorkloadCommand makes the command for one kind of workloads.
func newExplainWorkloadCommand(kind source.Kind) adapter {
	return func(s *session) *cobra.Command {
		o := &explainWorkloadOptions{kind: kind}
		cmd := newObjectCommand(s, kind, help{
			short: "Explain which pods a " + kind.API.Kind + " lacks, and what the others use", long: explainWorkloadLong, examples: explainWorkloadExamples,
			answer: "WorkloadExplanation",
		}, o)
		o.explained.addFlags(cmd)
		addStrictFlag(cmd, &o.strict)
		return cmd
	}
}

func (o *explainWorkloadOptions) complete(_ *cobra.Command, s *session, args []string) error {
	var err error
	if o.namespace, o.name, err = s.object(o.kind, args[0]); err != nil {
		return err
	}
	return o.explained.complete()
}

func (o *explainWorkloadOptions) run(ctx context.Context, s *session) error {
	src, err := s.connect()
	if err != nil {
		return err
	}
	explainer, can := src.(source.WorkloadExplainer)
	if !can {
		return errors.New("explain a workload: not available from this source")
	}
	answer, err := explainer.ExplainWorkload(ctx, o.kind, o.namespace, o.name)
	if err != nil {
		return err
	}
	brief := func(printer.Options) printer.Brief { return printer.BriefWorkload(answer) }
	err = o.print(s, answer, o.kind.Name, brief, func(w io.Writer, options printer.Options) error {
		return printer.WorkloadExplanation(w, answer, options)
	})
	if err != nil {
		return err
	}
	return incomplete(s, answer.Incomplete, o.strict)
}
