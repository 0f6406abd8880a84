package kubectlplugin

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// checkArguments makes the argument errors of a command and of all below it usage errors. A command that only groups
// others is one too when it is called alone: like kubectl's groups it does nothing then, and a script must notice.
func checkArguments(cmd *cobra.Command) {
	cmd.SuggestionsMinimumDistance = 2
	check := cmd.Args
	switch {
	case cmd.HasSubCommands():
		check = knownCommand
		if cmd.HasParent() {
			cmd.RunE = func(cmd *cobra.Command, _ []string) error {
				return usage("a command is required: %s", alternatives(commandNames(cmd)))
			}
		}
	case check == nil:
		check = cobra.ArbitraryArgs
	}
	if cmd.ValidArgsFunction == nil && !cmd.HasSubCommands() && check(cmd, []string{"any"}) != nil && check(cmd, nil) == nil {
		cmd.ValidArgsFunction = cobra.NoFileCompletions // it takes no arguments
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		if err == nil {
			return nil
		}
		if !cmd.HasSubCommands() && cobra.NoArgs(cmd, args) != nil && err.Error() == cobra.NoArgs(cmd, args).Error() {
			// cobra words every argument too many as a command, also where there are none.
			err = fmt.Errorf("%q takes no arguments, got %q", cmd.CommandPath(), args[0])
		}
		return &usageError{err}
	}
	for _, child := range cmd.Commands() {
		checkArguments(child)
	}
}

// knownCommand refuses the name of a command that a group does not have. The root suggests the nearest one, a group
// names all of its own.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("unknown command %q", args[0])
	if cmd.HasParent() {
		return fmt.Errorf("%s for %q: must be %s", text, cmd.CommandPath(), alternatives(commandNames(cmd)))
	}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		text += ", did you mean " + alternatives(near) + "?"
	}
	return errors.New(text)
}

// commandNames are those of the commands that help shows.
func commandNames(cmd *cobra.Command) []string {
	var names []string
	for _, child := range cmd.Commands() {
		if child.IsAvailableCommand() {
			names = append(names, child.Name())
		}
	}
	return names
}

// alternatives joins words the way a sentence does: a, b or c.
func alternatives(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// exactlyOne is for commands that need one argument; what names it.
func exactlyOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("exactly one %s is required, got %d", what, len(args))
		}
		return nil
	}
}

// atMostOne is for commands that can do without an argument; what names it.
func atMostOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return fmt.Errorf("at most one %s is allowed, got %d", what, len(args))
		}
		return nil
	}
}
