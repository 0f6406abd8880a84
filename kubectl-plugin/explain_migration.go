package kubectlplugin

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

const explainMigrationLong = `Explain a PodMigrationJob gate by gate: what is done, what it waits for, since when and until when, and what koord-descheduler
does next. The decision is made by koord-descheduler's own code, with the arguments in ConfigMap koord-descheduler-config.

A job that waits at gate Arbitration starts when the arbitrator annotates it; why the arbitrator holds it back is the message of
the job's status.`

const explainMigrationExamples = `  # Explain why a pod has not moved yet
  %[1]s explain migration rebalance-x7k2p

  # List the reasons of the gates too
  %[1]s explain migration rebalance-x7k2p -o wide

  # Print the gate that the job waits at
  %[1]s explain migration rebalance-x7k2p -o jsonpath='{.gates[?(@.state=="Waiting")].name}'`

type explainMigrationOptions struct {
	explained
	strict bool
	name   string
}

func newExplainMigrationCommand(s *session) *cobra.Command {
	o := &explainMigrationOptions{}
	cmd := newObjectCommand(s, source.KindMigration, help{
		short: "Explain how far a PodMigrationJob is, and what it waits for", long: explainMigrationLong, examples: explainMigrationExamples,
		answer: "MigrationExplanation",
	}, o)
	o.explained.addFlags(cmd)
	addStrictFlag(cmd, &o.strict)
	return cmd
}

func (o *explainMigrationOptions) complete(_ *cobra.Command, s *session, args []string) error {
	var err error
	if _, o.name, err = s.object(source.KindMigration, args[0]); err != nil {
		return err
	}
	return o.explained.complete()
}

func (o *explainMigrationOptions) run(ctx context.Context, s *session) error {
	src, err := s.connect()
	if err != nil {
		return err
	}
	explainer, can := src.(source.MigrationExplainer)
	if !can {
		return errors.New("this source does not explain PodMigrationJobs")
	}
	answer, err := explainer.ExplainMigration(ctx, o.name)
	if err != nil {
		return err
	}
	brief := func(options printer.Options) printer.Brief { return printer.BriefMigration(answer, options) }
	// The resource's own name, so that -o name feeds kubectl.
	err = o.print(s, answer, source.KindMigration.Resource(), brief, func(w io.Writer, options printer.Options) error {
		return printer.Migration(w, answer, options)
	})
	if err != nil {
		return err
	}
	return incomplete(s, answer.Incomplete, o.strict)
}
