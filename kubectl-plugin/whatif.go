package kubectlplugin

import "github.com/spf13/cobra"

func newWhatifCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{Use: "whatif", Aliases: []string{"what-if"}, Short: "Show what a change to the cluster would do, without making it", GroupID: "see"}
	cmd.AddCommand(newWhatifDrainCommand(s), newWhatifAddNodesCommand(s), newWhatifScaleCommand(s), newWhatifQuotaCommand(s), newWhatifConfigCommand(s))
	return cmd
}
