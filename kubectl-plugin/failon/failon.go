// Package failon is the flag --fail-on: findings as an exit code for scripts.
package failon

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// ExitCode means that the command ran and found something at or above --fail-on.
const ExitCode = 79

// severities from the least to the most.
var severities = []string{"info", "warning", "error"}

// Flag is --fail-on; empty is unset.
type Flag string

// AddTo adds the flag to a command.
func (f *Flag) AddTo(cmd *cobra.Command) {
	cmd.Flags().StringVar((*string)(f), "fail-on", "", "Exit with 79 on a finding of at least this severity: error, warning or info")
	err := cmd.RegisterFlagCompletionFunc("fail-on", cobra.FixedCompletions(severities, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		// The flag was added the line before.
		panic(err)
	}
}

// Validate refuses a severity that there is not.
func (f *Flag) Validate() error {
	if *f != "" && !slices.Contains(severities, string(*f)) {
		return fmt.Errorf("--fail-on %q: must be error, warning or info", *f)
	}
	return nil
}

// Check returns an Error when one of the findings is at or above the flag.
func (f *Flag) Check(found []diagnosticsv1alpha1.Finding) error {
	if *f == "" {
		return nil
	}
	var codes []string
	for i := range found {
		if slices.Index(severities, string(found[i].Severity)) >= slices.Index(severities, string(*f)) {
			codes = append(codes, found[i].Code)
		}
	}
	if len(codes) == 0 {
		return nil
	}
	return &Error{fmt.Sprintf("findings at or above %s: %s", *f, strings.Join(codes, ", "))}
}

// Error means that something was found at or above --fail-on. The findings were printed with the answer.
type Error struct{ text string }

// Error names the codes.
func (e *Error) Error() string { return e.text }

// ExitCode is 79.
func (e *Error) ExitCode() int { return ExitCode }
