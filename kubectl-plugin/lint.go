package kubectlplugin

import (
	"github.com/spf13/cobra"
)

func newLintCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "lint",
		Short:   "Check manifests before they are applied",
		Long:    "Check manifests before they are applied. The configuration is checked by " + s.Name + " config lint, pods by " + s.Name + " explain admission.",
		GroupID: "see",
	}
	cmd.AddCommand(newLintQuotasCommand(s))
	return cmd
}
