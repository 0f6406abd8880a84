package kubectlplugin

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

const verifyQuotasLong = `Compare what koord-scheduler published of the ElasticQuotas of all namespaces, or of one, with what follows from the pods and nodes as they
are now: what each uses, is asked for and may use. The figures are computed by koord-scheduler's own code.

  PUBLISHED  status.used, and the annotations request and runtime of the quota
  COMPUTED   the same from the pods and nodes

koord-scheduler publishes changes within seconds, and compares and repairs all quotas every two minutes. A difference that stays longer is
worth a look: koord-scheduler admits pods by its own figures, other programs by what is published.`

const verifyQuotasExamples = `  # Verify all quotas
  %[1]s verify quotas

  # Verify one quota
  %[1]s verify quota analytics -n teams

  # Print the names of the quotas that differ
  %[1]s verify quotas -o name

  # Fail in a script if something differs, or cannot be read
  %[1]s verify quotas --fail-on=warning --strict`

type verifyQuotasOptions struct {
	output
	gate
	namespace, name string
}

func newVerifyQuotasCommand(s *session) *cobra.Command {
	o := &verifyQuotasOptions{}
	kind := source.KindQuota
	cmd := &cobra.Command{
		Use:               kind.Name + " [NAME]",
		Aliases:           kind.Words()[1:],
		Short:             "Compare what koord-scheduler published of ElasticQuotas with the pods and nodes",
		Long:              verifyQuotasLong,
		Example:           fmt.Sprintf(verifyQuotasExamples, s.Name),
		Annotations:       map[string]string{answerAnnotation: "QuotaVerification"},
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeNames(s, kind, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(s, args); err != nil {
				return err
			}
			return o.run(cmd.Context(), s)
		},
	}
	o.output.addFlags(cmd, true)
	o.gate.addFlags(cmd)
	return cmd
}

func (o *verifyQuotasOptions) complete(s *session, args []string) error {
	var err error
	if len(args) == 0 {
		o.namespace, err = s.namespace()
	} else {
		o.namespace, o.name, err = s.object(source.KindQuota, args[0])
	}
	if err != nil {
		return err
	}
	if err := o.gate.complete(); err != nil {
		return err
	}
	return o.output.complete()
}

func (o *verifyQuotasOptions) run(ctx context.Context, s *session) error {
	src, err := s.connect()
	if err != nil {
		return err
	}
	verifier, can := src.(source.QuotaVerifier)
	if !can {
		return errors.New("this source does not verify ElasticQuotas")
	}
	defer s.collectLess()()
	answer, err := verifier.VerifyQuotas(ctx, o.namespace, o.name)
	if err != nil {
		return err
	}
	if err := o.show(s, answer); err != nil {
		return err
	}
	return o.check(s, answer.Findings, answer.Incomplete)
}

// show prints the verification; by name, the quotas that differ.
func (o *verifyQuotasOptions) show(s *session, answer *diagnosticsv1alpha1.QuotaVerification) error {
	if o.format != "name" {
		return o.print(s, answer, "", func(w io.Writer, options printer.Options) error { return printer.QuotaVerification(w, answer, options) })
	}
	for i := range answer.Findings {
		if _, err := fmt.Fprintf(s.Streams.Out, "%s/%s\n", source.KindQuota.Resource(), answer.Findings[i].Object.Name); err != nil {
			return err
		}
	}
	return nil
}
