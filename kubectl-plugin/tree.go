package kubectlplugin

import (
	"github.com/spf13/cobra"
)

func newTreeCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use:     treeCommand,
		Short:   "Draw " + alternatives(plural(kindsOf(trees))) + " with those below them",
		GroupID: "see",
	}
	addNouns(cmd, s, trees)
	return cmd
}
