package kubectlplugin

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

const explainJobLong = `Explain what keeps a Job from running: Kueue, which has not admitted it, or what its pods wait for, such as their ElasticQuota, the other
members of their gang, or nodes with room. A Job that Kueue holds has no pods, so that there is no pod to explain.`

const explainJobExamples = `  # Explain why a Job does not start
  %[1]s explain job train -n ml

  # Ask in short
  %[1]s why job/train -n ml

  # Print what holds it
  %[1]s explain job train -n ml -o jsonpath='{.heldBy}'`

type explainJobOptions struct {
	explained
	strict          bool
	namespace, name string
}

func newExplainJobCommand(s *session) *cobra.Command {
	o := &explainJobOptions{}
	cmd := newObjectCommand(s, source.KindJob, help{
		short: "Explain what keeps a Job from running, and who", long: explainJobLong, examples: explainJobExamples, answer: "JobExplanation",
	}, o)
	o.explained.addFlags(cmd)
	addStrictFlag(cmd, &o.strict)
	return cmd
}

func (o *explainJobOptions) complete(_ *cobra.Command, s *session, args []string) error {
	var err error
	if o.namespace, o.name, err = s.object(source.KindJob, args[0]); err != nil {
		return err
	}
	return o.explained.complete()
}

func (o *explainJobOptions) run(ctx context.Context, s *session) error {
	src, err := s.connect()
	if err != nil {
		return err
	}
	explainer, can := src.(source.JobExplainer)
	if !can {
		return errors.New("explain a Job: not available from this source")
	}
	answer, err := explainer.ExplainJob(ctx, o.namespace, o.name)
	if err != nil {
		return err
	}
	brief := func(printer.Options) printer.Brief { return printer.BriefJob(answer) }
	err = o.print(s, answer, source.KindJob.Name, brief, func(w io.Writer, options printer.Options) error {
		return printer.JobExplanation(w, answer, options)
	})
	if err != nil {
		return err
	}
	return incomplete(s, answer.Incomplete, o.strict)
}
