package kubectlplugin

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

const treeQuotaLong = `Draw the ElasticQuotas of all namespaces as trees, each quota below its parent, with what it is guaranteed, may use now, uses and
is asked for; with a name, that quota and those below it. The columns are those of koordctl top quotas.

A quota whose parent does not exist, is in another tree or is below the quota itself is at the top of its tree; it has an asterisk,
and the reason stands below the tree. The same holds for a quota that does not count because an older one has its name.`

const treeQuotaExamples = `  # Draw all quotas
  %[1]s tree quota

  # Draw a quota and those below it
  %[1]s tree quota analytics -n teams

  # Print the quotas with their depth in the tree
  %[1]s tree quota -o custom-columns=NAME:.metadata.name,DEPTH:.depth,PARENT:.parent`

type treeQuotaOptions struct {
	output
	strict          bool
	namespace, name string
}

func newTreeQuotaCommand(s *session) *cobra.Command {
	o := &treeQuotaOptions{}
	kind := source.KindQuota
	cmd := &cobra.Command{
		Use:               kind.Name + " [NAME]",
		Aliases:           kind.Words()[1:],
		Short:             "Draw ElasticQuotas as trees: guaranteed, used and requested on every level",
		Long:              treeQuotaLong,
		Example:           fmt.Sprintf(treeQuotaExamples, s.Name),
		Annotations:       map[string]string{answerAnnotation: "QuotaOverviewList"},
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
	addStrictFlag(cmd, &o.strict)
	return cmd
}

func (o *treeQuotaOptions) complete(s *session, args []string) error {
	var err error
	if len(args) == 0 {
		o.namespace, err = s.namespace()
	} else {
		o.namespace, o.name, err = s.object(source.KindQuota, args[0])
	}
	if err != nil {
		return err
	}
	return o.output.complete()
}

func (o *treeQuotaOptions) run(ctx context.Context, s *session) error {
	src, err := s.connect()
	if err != nil {
		return err
	}
	viewer, can := src.(source.QuotaViewer)
	if !can {
		return errors.New("draw ElasticQuotas: not available from this source")
	}
	list, err := viewer.QuotaTree(ctx, o.namespace, o.name)
	if err != nil {
		return err
	}
	if len(list.Items) == 0 && o.text() {
		fmt.Fprintf(s.Streams.ErrOut, "No %s found.\n", source.KindQuota.Many())
		return incomplete(s, list.Incomplete, o.strict)
	}
	err = o.print(s, list, source.KindQuota.Resource(), func(w io.Writer, options printer.Options) error {
		return printer.QuotaTree(w, list, options)
	})
	if err != nil {
		return err
	}
	return incomplete(s, list.Incomplete, o.strict)
}
