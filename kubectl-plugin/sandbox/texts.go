package sandbox

import (
	"strings"

	"github.com/spf13/cobra"
)

// nameExamples replaces %[1]s in the examples of a command and those below it by the program's name. That is known only
// once the command has a root, therefore it is done when help or usage is shown.
func nameExamples(cmd *cobra.Command) {
	fill := func(c *cobra.Command) {
		c.Example = strings.ReplaceAll(c.Example, "%[1]s", c.Root().CommandPath())
	}
	cmd.SetHelpFunc(func(c *cobra.Command, args []string) {
		fill(c)
		above(cmd).HelpFunc()(c, args)
	})
	cmd.SetUsageFunc(func(c *cobra.Command) error {
		fill(c)
		return above(cmd).UsageFunc()(c)
	})
}

// above is the command whose help and usage functions apply; a command without parent gets cobra's own.
func above(cmd *cobra.Command) *cobra.Command {
	if cmd.Parent() != nil {
		return cmd.Parent()
	}
	return &cobra.Command{}
}

// usageError is a wrong flag or argument; its exit code is that of usage errors.
type usageError struct{ error }

// ExitCode is 2.
func (usageError) ExitCode() int { return 2 }

// Unwrap returns the error.
func (e usageError) Unwrap() error { return e.error }
