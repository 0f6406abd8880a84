package kubectlplugin

import (
	"github.com/spf13/cobra"

	"koordinator.sh/koord/kubectl-plugin/install"
	"koordinator.sh/koord/kubectl-plugin/sandbox"
	"koordinator.sh/koord/kubectl-plugin/tutorial"
)

// hooks are the commands that other packages bring.
func hooks(s *session) []*cobra.Command {
	commands := append(install.NewCommands(newGetter(s), s.Streams, s.printerOptions), sandbox.NewCommand(s.Streams, s.say),
		tutorial.NewCommand(s.Streams, s.Name, s.language, tutorials()))
	for _, cmd := range commands {
		cmd.GroupID = "run"
	}
	return commands
}
