package kubectlplugin

import (
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/fields"
)

// addFieldSelector adds the flag of kubectl get. Which fields can be selected by is for the API server to say.
func addFieldSelector(cmd *cobra.Command, selector *string) {
	cmd.Flags().StringVar(selector, "field-selector", "", "Field selector, as of kubectl get, such as status.phase=Running for pods")
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
