package kubectlplugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/quotaview"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

const whatifQuotaLong = `Show what a change of an ElasticQuota would do, without making it: whether koord-manager allows it, which quotas get more or less, which
of them would use more than that, and which waiting pods fit into their quotas then, or no longer. The decisions are made by the code
of koord-manager and koord-scheduler, from the ElasticQuotas, pods and nodes as they are now.

  BEFORE, AFTER  runtime of a quota, now and with the change
  USED           requests of its pods that have a node

Resources are written as RESOURCE=QUANTITY, or as RESOURCE- to remove one. If koord-manager refuses the change, the rest shows what
would happen without koord-manager. Options of its webhook that are not the default are not known here.`

const whatifQuotaExamples = `  # Show what a larger min does
  %[1]s whatif quota team-a -n teams --min cpu=40,memory=80Gi

  # Remove a limit
  %[1]s whatif quota team-a -n teams --max nvidia.com/gpu-

  # Fail in a script if the change would be refused
  %[1]s whatif quota team-a -n teams --max cpu=100 --fail-on=error --strict`

type whatifQuotaOptions struct {
	output
	gate
	namespace, name string
	edits           quotaview.Edits
	pods            int32
}

func newWhatifQuotaCommand(s *session) *cobra.Command {
	o := &whatifQuotaOptions{}
	cmd := &cobra.Command{
		Use:               "quota NAME",
		Short:             "Show what a change of an ElasticQuota does to all quotas and waiting pods",
		Long:              whatifQuotaLong,
		Example:           fmt.Sprintf(whatifQuotaExamples, s.Name),
		Annotations:       map[string]string{answerAnnotation: "QuotaForecast"},
		ValidArgsFunction: completeNames(s, source.KindQuota, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(s, args); err != nil {
				return err
			}
			return o.run(cmd.Context(), s)
		},
	}
	o.output.addFlags(cmd, true)
	o.gate.addFlags(cmd)
	cmd.Flags().Var((*resourcesFlag)(&o.edits.Min), "min", "Set resources of spec.min, such as cpu=40,memory-")
	cmd.Flags().Var((*resourcesFlag)(&o.edits.Max), "max", "Set resources of spec.max, such as cpu=100,memory=200Gi")
	cmd.Flags().Var((*resourcesFlag)(&o.edits.SharedWeight), "shared-weight", "Set resources of the weight by which what is left over is shared")
	cmd.Flags().Int32Var(&o.pods, "pods", 10, "List up to this many pods that fit then, and as many that no longer do")
	for _, flag := range []string{"min", "max", "shared-weight"} {
		must(cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions))
	}
	return cmd
}

func (o *whatifQuotaOptions) complete(s *session, args []string) error {
	if len(args) != 1 {
		return usage("the name of one quota is required")
	}
	if len(o.edits.Min)+len(o.edits.Max)+len(o.edits.SharedWeight) == 0 {
		return usage("a change is required: --min, --max or --shared-weight")
	}
	if o.pods < 0 || o.pods > 1000 {
		return usage("--pods %d: must be 0 to 1000", o.pods)
	}
	var err error
	if o.namespace, o.name, err = s.object(source.KindQuota, args[0]); err != nil {
		return err
	}
	if err := o.gate.complete(); err != nil {
		return err
	}
	return o.output.complete()
}

func (o *whatifQuotaOptions) run(ctx context.Context, s *session) error {
	src, err := s.connect()
	if err != nil {
		return err
	}
	forecaster, can := src.(source.QuotaForecaster)
	if !can {
		return errors.New("this source does not forecast changes of quotas")
	}
	defer s.collectLess()()
	answer, err := forecaster.ForecastQuota(ctx, o.namespace, o.name, o.edits, int(o.pods))
	if err != nil {
		return err
	}
	if err := o.show(s, answer); err != nil {
		return err
	}
	return o.check(s, answer.Findings, answer.Incomplete)
}

// show prints the forecast; by name, the quotas whose runtime changes.
func (o *whatifQuotaOptions) show(s *session, answer *diagnosticsv1alpha1.QuotaForecast) error {
	if o.format != "name" {
		return o.print(s, answer, "", func(w io.Writer, options printer.Options) error { return printer.QuotaForecast(w, answer, options) })
	}
	last := ""
	for i := range answer.Quotas {
		name := answer.Quotas[i].Quota
		if name == last {
			continue
		}
		last = name
		if _, err := fmt.Fprintf(s.Streams.Out, "%s/%s\n", source.KindQuota.Resource(), name); err != nil {
			return err
		}
	}
	return nil
}

// resourcesFlag reads RESOURCE=QUANTITY or RESOURCE-, several of them separated by commas.
type resourcesFlag map[corev1.ResourceName]*resource.Quantity

// Set reads one value.
func (f *resourcesFlag) Set(text string) error {
	if *f == nil {
		*f = resourcesFlag{}
	}
	for part := range strings.SplitSeq(text, ",") {
		name, value, assigned := strings.Cut(part, "=")
		if removed, yes := strings.CutSuffix(part, "-"); yes && !assigned && removed != "" {
			(*f)[corev1.ResourceName(removed)] = nil
			continue
		}
		quantity, err := resource.ParseQuantity(value)
		if err != nil || !assigned || name == "" {
			return fmt.Errorf("%q must be RESOURCE=QUANTITY or RESOURCE-", part)
		}
		(*f)[corev1.ResourceName(name)] = &quantity
	}
	return nil
}

// String is empty, as there is no default.
func (*resourcesFlag) String() string { return "" }

// Type names the value in usage texts.
func (*resourcesFlag) Type() string { return "resources" }
