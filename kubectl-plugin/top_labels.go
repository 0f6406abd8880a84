package kubectlplugin

import (
	"github.com/spf13/cobra"

	"koordinator.sh/koord/kubectl-plugin/printer"
)

// labelColumns are the flags of kubectl get that show labels.
type labelColumns struct {
	columns []string
	all     bool
}

func (c *labelColumns) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringSliceVarP(&c.columns, "label-columns", "L", nil, "Comma-separated list of labels to show as columns")
	cmd.Flags().BoolVar(&c.all, "show-labels", false, "Show all labels as the last column")
}

// set configures a printer.
func (c *labelColumns) set(options *printer.Options) {
	options.LabelColumns, options.ShowLabels = c.columns, c.all
}
