package kubectlplugin

import (
	"github.com/spf13/cobra"

	"koordinator.sh/koord/kubectl-plugin/install"
	"koordinator.sh/koord/kubectl-plugin/sandbox"
)

// hooks are the commands that other packages bring.
func hooks(s *session) []*cobra.Command {
	commands := append(install.NewCommands(newGetter(s), s.Streams, s.printerOptions), sandbox.NewCommand(s.Streams))
	for _, cmd := range commands {
		cmd.GroupID = "run"
	}
	return commands
}
