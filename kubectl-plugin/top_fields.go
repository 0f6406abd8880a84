package kubectlplugin

import (
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/fields"
)

// Beginnings of field selectors that are proposed for completion.
var (
	podFields = []string{
		"metadata.name=", "metadata.namespace=", "spec.nodeName=", "spec.schedulerName=",
		"status.phase=Failed", "status.phase=Pending", "status.phase=Running", "status.phase=Succeeded",
	}
	nodeFields = []string{"metadata.name=", "spec.unschedulable=false", "spec.unschedulable=true"}
)

// addFieldSelector adds the flag of kubectl get. Which fields can be selected by is for the API server to say.
func addFieldSelector(cmd *cobra.Command, selector *string, selectors []string) {
	cmd.Flags().StringVar(selector, "field-selector", "", "Selector (field query) to filter on")
	must(cmd.RegisterFlagCompletionFunc("field-selector", func(_ *cobra.Command, _ []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return matching(selectors, nil, prefix), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}))
}

func checkFieldSelector(selector string, names []string) error {
	if selector == "" {
		return nil
	}
	if len(names) > 0 {
		return usage("names and --field-selector cannot be used together")
	}
	if _, err := fields.ParseSelector(selector); err != nil {
		return usage("--field-selector %q: %w", selector, err)
	}
	return nil
}
