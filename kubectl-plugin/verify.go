package kubectlplugin

import (
	"github.com/spf13/cobra"
)

func newVerifyCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use:     verifyCommand,
		Short:   "Compare what is published of " + alternatives(plural(kindsOf(verifies))) + " with what follows from the cluster",
		GroupID: "see",
	}
	addNouns(cmd, s, verifies)
	return cmd
}
