package kubectlplugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/admission/quotaadmission"
	"koordinator.sh/koord/kubectl-plugin/manifest"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/objects"
)

const lintQuotasLong = `Check the ElasticQuotas of manifests: what the webhook of koord-manager would answer if they were applied one after the other. Objects of
other kinds are skipped.

No cluster is contacted unless --cluster is given: then quotas that exist count as well, a parent must exist, and the mins at the top of the
tree are compared with what the nodes have. Whether a quota that becomes a parent has pods, and what who applies the manifests may do, is
not checked.`

const lintQuotasExamples = `  # Check the quotas of a repository in a pipeline, and exit with 79 if one would be refused
  %[1]s lint quotas -f org.yaml -f teams.yaml --fail-on error

  # Check what kustomize writes against the quotas and nodes of the cluster
  kustomize build quotas | %[1]s lint quotas -f - --cluster

  # Print the names of the quotas that would be refused
  %[1]s lint quotas -f teams.yaml -o name`

type lintQuotasOptions struct {
	output
	gate
	files   []string
	cluster bool
}

func newLintQuotasCommand(s *session) *cobra.Command {
	o := &lintQuotasOptions{}
	kind := source.KindQuota
	cmd := &cobra.Command{
		Use:         kind.Many() + " -f FILENAME",
		Aliases:     slices.DeleteFunc(kind.Words(), func(word string) bool { return word == kind.Many() }),
		Short:       "Check ElasticQuotas of manifests as koord-manager does",
		Long:        lintQuotasLong,
		Example:     fmt.Sprintf(lintQuotasExamples, s.Name),
		Annotations: map[string]string{answerAnnotation: "QuotaLintList"},
		Args:        cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.complete(); err != nil {
				return err
			}
			return o.run(cmd.Context(), s)
		},
	}
	o.output.addFlags(cmd, true)
	o.gate.addFlags(cmd)
	cmd.Flags().StringArrayVarP(&o.files, "filename", "f", nil, "Manifest of ElasticQuotas, - for standard input; can be repeated")
	cmd.Flags().BoolVar(&o.cluster, "cluster", false, "Check the quotas against those of the cluster, and its nodes")
	return cmd
}

func (o *lintQuotasOptions) complete() error {
	if err := checkFiles(o.files); err != nil {
		return err
	}
	if err := o.gate.complete(); err != nil {
		return err
	}
	return o.output.complete()
}

func (o *lintQuotasOptions) run(ctx context.Context, s *session) error {
	read, files, err := o.read(s)
	if err != nil {
		return err
	}
	quotas := make([]schedulingsigsv1alpha1.ElasticQuota, len(read))
	for i := range read {
		quotas[i] = read[i].Object
	}
	answer, err := o.lint(ctx, s, quotas)
	if err != nil {
		return err
	}
	var found []diagnosticsv1alpha1.Finding
	for i := range answer.Items {
		answer.Items[i].TypeMeta = diagnosticsType("QuotaLint")
		answer.Items[i].File, answer.Items[i].Document = files[i], int32(read[i].Document) //nolint:gosec // at most as many as MaxBytes
		found = append(found, answer.Items[i].Findings...)
	}
	if err := o.show(s, answer); err != nil {
		return err
	}
	return o.gate.check(s, found, answer.Incomplete)
}

// read reads the quotas of all manifests, and the file of each.
func (o *lintQuotasOptions) read(s *session) (quotas []manifest.Quota, files []string, err error) {
	namespace, err := s.namespace()
	if err != nil {
		return nil, nil, err
	}
	all := manifest.NewQuotas(namespace, *s.flags.Namespace != "")
	for _, name := range o.files {
		if err := readManifest(s, name, all); err != nil {
			return nil, nil, err
		}
		for len(files) < len(all.Items) {
			files = append(files, name)
		}
	}
	for _, line := range all.Warnings {
		s.tell("Warning: %s", line)
	}
	if len(all.Items) == 0 {
		return nil, nil, finding.Wrap(errors.New("the manifests have no ElasticQuotas"), finding.InvalidArgument, "-f takes ElasticQuotas of scheduling.sigs.k8s.io/v1alpha1")
	}
	return all.Items, files, nil
}

// lint answers from the manifests alone, or from the cluster too.
func (o *lintQuotasOptions) lint(ctx context.Context, s *session, quotas []schedulingsigsv1alpha1.ElasticQuota) (*diagnosticsv1alpha1.QuotaLintList, error) {
	if !o.cluster {
		return &diagnosticsv1alpha1.QuotaLintList{
			TypeMeta: diagnosticsType("QuotaLintList"), Items: objects.LintQuotas(quotaadmission.LintInput{Objects: quotas}),
		}, nil
	}
	src, err := s.connect()
	if err != nil {
		return nil, err
	}
	linter, can := src.(source.QuotaLinter)
	if !can {
		return nil, errors.New("this source does not check manifests of ElasticQuotas")
	}
	return linter.LintQuotas(ctx, quotas)
}

// show prints the answers; by name, the quotas that would be refused.
func (o *lintQuotasOptions) show(s *session, answer *diagnosticsv1alpha1.QuotaLintList) error {
	if o.format != "name" {
		return o.print(s, answer, "", func(w io.Writer, options printer.Options) error { return printer.QuotaLints(w, answer, options) })
	}
	for i := range answer.Items {
		if !answer.Items[i].Refused {
			continue
		}
		if _, err := fmt.Fprintf(s.Streams.Out, "%s/%s\n", source.KindQuota.Resource(), answer.Items[i].Name); err != nil {
			return err
		}
	}
	return nil
}
