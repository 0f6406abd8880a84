package kubectlplugin

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

const explainGangLong = `Explain a gang: how many members it needs, how many exist, wait for a node, are bound and run, why members have no node, each cause
once, and what comes next. A gang is a PodGroup, or what the annotations of its pods describe.

A member that found a node and waits there for the others counts as waiting: only koord-scheduler knows of it until it is bound.`

const explainGangExamples = `  # Explain why a gang does not start
  %[1]s explain gang training -n ml

  # List all members, with why they have no node
  %[1]s explain gang training -n ml -o wide

  # Print the next step
  %[1]s explain gang training -n ml -o jsonpath='{.next}'`

type explainGangOptions struct {
	explained
	strict          bool
	namespace, name string
	members         int32
}

func newExplainGangCommand(s *session) *cobra.Command {
	o := &explainGangOptions{}
	cmd := newObjectCommand(s, source.KindGang, help{
		short: "Explain how far a gang is, and what it waits for", long: explainGangLong, examples: explainGangExamples, answer: "GangExplanation",
	}, o)
	o.explained.addFlags(cmd)
	addStrictFlag(cmd, &o.strict)
	cmd.Flags().Int32Var(&o.members, "members", 10, "List up to this many members, those without a node first; all with -o wide")
	return cmd
}

func (o *explainGangOptions) complete(_ *cobra.Command, s *session, args []string) error {
	var err error
	if o.namespace, o.name, err = s.object(source.KindGang, args[0]); err != nil {
		return err
	}
	if o.members < 0 || o.members > 1000 {
		return usage("--members %d: must be 0 to 1000", o.members)
	}
	return o.explained.complete()
}

func (o *explainGangOptions) run(ctx context.Context, s *session) error {
	src, err := s.connect()
	if err != nil {
		return err
	}
	explainer, can := src.(source.GangExplainer)
	if !can {
		return errors.New("explain a gang: not available from this source")
	}
	answer, err := explainer.ExplainGang(ctx, o.namespace, o.name)
	if err != nil {
		return err
	}
	brief := func(printer.Options) printer.Brief { return printer.BriefGang(answer) }
	err = o.print(s, answer, source.KindGang.Resource(), brief, func(w io.Writer, options printer.Options) error {
		options.Parts = int(o.members)
		return printer.Gang(w, answer, options)
	})
	if err != nil {
		return err
	}
	return incomplete(s, answer.Incomplete, o.strict)
}
