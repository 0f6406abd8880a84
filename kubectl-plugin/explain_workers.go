package kubectlplugin

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

const explainWorkersLong = `Explain the size of ElasticWorkers: how many workers fit in what nodes offer, what of it waiting pods, predictions, headroom, quota and
bounds take away, which workers drain and until when, and which go next.

The figures are those by which koord-manager decided last, from the status of the object.`

const explainWorkersExamples = `  # Explain why there are so many workers
  %[1]s explain workers trino -n sql

  # Ask in short
  %[1]s why workers/trino -n sql

  # Print the workers that drain
  %[1]s explain workers trino -n sql -o jsonpath='{.draining[*].name}'`

type explainWorkersOptions struct {
	explained
	namespace string
	name      string
}

func newExplainWorkersCommand(s *session) *cobra.Command {
	o := &explainWorkersOptions{}
	cmd := newObjectCommand(s, source.KindWorkers, help{
		short: "Explain why an engine has so many workers, and which go next", long: explainWorkersLong, examples: explainWorkersExamples,
		answer: "WorkersExplanation",
	}, o)
	o.explained.addFlags(cmd)
	return cmd
}

func (o *explainWorkersOptions) complete(_ *cobra.Command, s *session, args []string) error {
	var err error
	if o.namespace, o.name, err = s.object(source.KindWorkers, args[0]); err != nil {
		return err
	}
	return o.explained.complete()
}

func (o *explainWorkersOptions) run(ctx context.Context, s *session) error {
	src, err := s.connect()
	if err != nil {
		return err
	}
	explainer, can := src.(source.WorkersExplainer)
	if !can {
		return errors.New("this source does not explain ElasticWorkers")
	}
	answer, err := explainer.ExplainWorkers(ctx, o.namespace, o.name)
	if err != nil {
		return err
	}
	brief := func(options printer.Options) printer.Brief { return printer.BriefWorkers(answer, options) }
	// The resource's own name, so that -o name feeds kubectl.
	return o.print(s, answer, source.KindWorkers.Resource(), brief, func(w io.Writer, options printer.Options) error {
		return printer.Workers(w, answer, options)
	})
}
