package kubectlplugin

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
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

func newTreeQuotaCommand(s *session) *cobra.Command {
	return newDrawingCommand(s, source.KindQuota, drawing[diagnosticsv1alpha1.QuotaOverviewList]{
		help: help{short: "Draw ElasticQuotas as trees: guaranteed, used and requested on every level", long: treeQuotaLong, examples: treeQuotaExamples},
		ask: func(ctx context.Context, src source.Source, namespace, name string) (*diagnosticsv1alpha1.QuotaOverviewList, error) {
			viewer, can := src.(source.QuotaViewer)
			if !can {
				return nil, errors.New("draw ElasticQuotas: not available from this source")
			}
			return viewer.QuotaTree(ctx, namespace, name)
		},
		count:      func(list *diagnosticsv1alpha1.QuotaOverviewList) int { return len(list.Items) },
		incomplete: func(list *diagnosticsv1alpha1.QuotaOverviewList) []string { return list.Incomplete },
		print:      printer.QuotaTree,
	})
}
