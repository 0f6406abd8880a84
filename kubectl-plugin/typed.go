package kubectlplugin

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"koordinator.sh/koord/source"
)

// whyCommand explains objects too, as the command explain does, but briefly.
const whyCommand = "why"

// Verbs whose subcommands are nouns.
const topCommand, treeCommand, explainCommand, qosCommand, auditCommand, eventsCommand, verifyCommand = "top", "tree", "explain", "qos", "audit", "events", "verify"

// alone are the kinds that verbs take a name without a type for.
var alone = map[string]source.Kind{auditCommand: source.KindNode, eventsCommand: source.KindPod, verifyCommand: source.KindQuota}

// expandArguments rewrites a command line in which an object stands where a type is expected: explain pod/web becomes explain pod web, why
// pod/web as well with --depth=1, and audit node-1 audit node node-1.
func expandArguments(root *cobra.Command, args []string) []string {
	if len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		if len(args) < 3 {
			return args
		}
		// The last word is still typed.
		last := len(args) - 1
		return slices.Concat(args[:1], expandArguments(root, args[1:last]), args[last:])
	}
	cmd, at := root, -1
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			return args
		}
		if len(arg) > 1 && arg[0] == '-' {
			if takesValue(root, cmd, arg) {
				i++
			}
			continue
		}
		if child := childOf(cmd, arg); child != nil {
			cmd, at = child, i
			continue
		}
		if words := expanded(cmd, args[i:]); words != nil {
			out := slices.Concat(args[:i], words)
			if cmd.Name() == whyCommand {
				out[at] = explainCommand
				out = slices.Insert(out, i+2, askBriefly) // behind TYPE NAME, before the flags of the user
			}
			return out
		}
		return args
	}
	return args
}

// expanded are the words of a command line from its first argument on, as the command understands them; nil where it does already.
func expanded(cmd *cobra.Command, args []string) []string {
	before, name, slashed := strings.Cut(args[0], "/")
	path := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().CommandPath()+" ")
	switch {
	case path == whyCommand && !slashed && namesKind(before) && len(args) > 1 && !strings.HasPrefix(args[1], "-"):
		return args // TYPE NAME
	case path == whyCommand && slashed && name != "":
		cmd = childOf(cmd.Root(), explainCommand)
	case path == eventsCommand && !slashed && !namesKind(before):
		return slices.Concat([]string{alone[path].Name, before, ofAnyKind}, args[1:])
	case alone[path] != source.Kind{} && !slashed && !namesKind(before):
		return append([]string{alone[path].Name}, args...)
	}
	if !slashed || name == "" || !cmd.HasSubCommands() {
		return nil
	}
	if namesKind(before) && childOf(cmd, before) != nil {
		return append([]string{before, name}, args[1:]...)
	}
	// NAMESPACE/NAME is a pod where the command knows pods.
	if pods := childOf(cmd, source.KindPod.Name); pods != nil && before != "" && !namesKind(before) {
		return append([]string{pods.Name()}, args...)
	}
	return nil
}

// childOf is the command of that name, or alias, below another; nil when there is none.
func childOf(cmd *cobra.Command, word string) *cobra.Command {
	for _, child := range cmd.Commands() {
		if child.Name() == word || child.HasAlias(word) {
			return child
		}
	}
	return nil
}

// takesValue says whether the word after a flag is its value. Flags of the commands below count too: they may stand before the name.
func takesValue(root, cmd *cobra.Command, arg string) bool {
	if strings.Contains(arg, "=") {
		return false
	}
	name, long := strings.CutPrefix(arg, "--")
	if !long && len(arg) > 2 {
		return false // -nshop
	}
	search := append([]*cobra.Command{root, cmd}, cmd.Commands()...)
	if cmd.Name() == whyCommand {
		search = append(search, childOf(root, explainCommand).Commands()...)
	}
	for _, c := range search {
		flag := c.Flags().Lookup(name)
		switch {
		case long && flag == nil:
			flag = c.PersistentFlags().Lookup(name)
		case !long:
			if flag = c.Flags().ShorthandLookup(arg[1:]); flag == nil {
				flag = c.PersistentFlags().ShorthandLookup(arg[1:])
			}
		}
		if flag != nil {
			return flag.NoOptDefVal == ""
		}
	}
	return false
}

// completeTyped completes an object that stands where a type is expected: its name after TYPE/, or that of a pod after NAMESPACE/.
func completeTyped(s *session) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		before, _, slashed := strings.Cut(prefix, "/")
		if !slashed || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		kind, known := kindOf(before)
		if !known {
			kind = source.KindPod
		}
		return completeNames(s, kind, 1)(cmd, args, prefix)
	}
}
