package kubectlplugin

import (
	"slices"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ofFiles are the flags that name files, which the shell completes.
var ofFiles = []string{"template", "filename", "values", "trace", "dir", "kubernetes-bin", "page"}

// TestEveryNameAndEnumIsCompleted walks the commands: what can be proposed after a tab is, and a shell never proposes files where no
// file is meant.
func TestEveryNameAndEnumIsCompleted(t *testing.T) {
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Runnable() && !cmd.HasSubCommands() && cmd.ValidArgsFunction == nil && len(cmd.ValidArgs) == 0 {
			t.Errorf("%s completes no arguments", cmd.CommandPath())
		}
		cmd.LocalNonPersistentFlags().VisitAll(func(flag *pflag.Flag) {
			if flag.Value.Type() == "bool" || slices.Contains(ofFiles, flag.Name) {
				return
			}
			if _, found := cmd.GetFlagCompletionFunc(flag.Name); !found {
				t.Errorf("%s completes no values of --%s", cmd.CommandPath(), flag.Name)
			}
		})
		for _, child := range cmd.Commands() {
			walk(child)
		}
	}
	walk(NewCommand(Options{Name: "koordctl"}))
}
