package kubectlplugin

import "github.com/spf13/cobra"

func newTopCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "top",
		Short:   "Show what nodes and pods offer, request and use",
		GroupID: "see",
	}
	cmd.AddCommand(newTopNodesCommand(s), newTopPodsCommand(s))
	return cmd
}
