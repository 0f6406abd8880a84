package kubectlplugin

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

const explainQuotaLong = `Explain where the runtime of an ElasticQuota comes from, resource by resource: its min and max, what it lends to siblings and borrows
from them, round by round, and what another pod may still request. Which pods use it, which do not fit and why, and which quotas
keep a lent min from being used at once.

The division is computed by koord-scheduler's own code from the ElasticQuotas, pods and nodes as they are now, with the arguments in
ConfigMap koord-scheduler-config. What koord-scheduler published may be up to two minutes old.`

const explainQuotaExamples = `  # Explain where the runtime comes from, and who uses it
  %[1]s explain quota analytics -n teams

  # Show every resource and all siblings
  %[1]s explain quota analytics -n teams -o wide

  # Print what another pod may still request
  %[1]s explain quota analytics -n teams -o jsonpath='{range .divisions[*]}{.resource}={.available}{"\n"}{end}'`

type explainQuotaOptions struct {
	explained
	gate
	namespace, name string
	pods            int32
}

func newExplainQuotaCommand(s *session) *cobra.Command {
	o := &explainQuotaOptions{}
	cmd := newObjectCommand(s, source.KindQuota, help{
		short: "Explain where the runtime of an ElasticQuota comes from, and who uses it", long: explainQuotaLong, examples: explainQuotaExamples,
		answer: "QuotaExplanation",
	}, o)
	o.explained.addFlags(cmd)
	o.gate.addFlags(cmd)
	cmd.Flags().Int32Var(&o.pods, "pods", 10, "List up to this many pods that use the quota, and as many that do not fit")
	return cmd
}

func (o *explainQuotaOptions) complete(_ *cobra.Command, s *session, args []string) error {
	var err error
	if o.namespace, o.name, err = s.object(source.KindQuota, args[0]); err != nil {
		return err
	}
	if o.pods < 0 || o.pods > 1000 {
		return usage("--pods %d: must be 0 to 1000", o.pods)
	}
	if err := o.gate.complete(); err != nil {
		return err
	}
	return o.explained.complete()
}

func (o *explainQuotaOptions) run(ctx context.Context, s *session) error {
	src, err := s.connect()
	if err != nil {
		return err
	}
	explainer, can := src.(source.QuotaExplainer)
	if !can {
		return errors.New("explain an ElasticQuota: not available from this source")
	}
	answer, err := explainer.ExplainQuota(ctx, o.namespace, o.name, int(o.pods))
	if err != nil {
		return err
	}
	brief := func(printer.Options) printer.Brief { return printer.BriefQuota(answer) }
	err = o.print(s, answer, source.KindQuota.Resource(), brief, func(w io.Writer, options printer.Options) error {
		return printer.Quota(w, answer, options)
	})
	if err != nil {
		return err
	}
	return o.gate.check(s, answer.Findings, answer.Incomplete)
}
