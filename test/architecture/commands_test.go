package architecture

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"koordinator.sh/koord/agent/koordlet"
	kubectlplugin "koordinator.sh/koord/kubectl-plugin"
)

// named finds the commands of koordctl that a text names, which end where its sentence goes on in other words.
var named = regexp.MustCompile(`(?:koordctl|kubectl koord) ([a-z]+(?: [a-z]+)?)`)

// TestFlagsOfTheAgentNameCommandsThatThereAre: a command in the usage of a flag exists.
func TestFlagsOfTheAgentNameCommandsThatThereAre(t *testing.T) {
	flags := pflag.NewFlagSet("koordlet", pflag.ContinueOnError)
	koordlet.NewOptions().AddFlags(flags)
	root, found := kubectlplugin.NewCommand(kubectlplugin.Options{}), 0
	flags.VisitAll(func(flag *pflag.Flag) {
		for _, match := range named.FindAllStringSubmatch(flag.Usage, -1) {
			found++
			words := strings.Fields(match[1])
			command, rest, err := root.Find(words)
			if err != nil || command.HasSubCommands() || len(rest) > 0 && command.Args != nil && command.Args(command, rest) != nil {
				t.Errorf("--%s names %q: found %q with %q left, %v", flag.Name, match[0], command.CommandPath(), rest, err)
			}
		}
	})
	if found == 0 {
		t.Error("no flag names a command")
	}
}
