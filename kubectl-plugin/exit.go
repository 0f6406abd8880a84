package kubectlplugin

import (
	"context"
	"errors"

	"koordinator.sh/koord/kubectl-plugin/failon"
)

// Exit codes, frozen: scripts depend on them.
const (
	// ExitOK means the command ran; findings do not change it.
	ExitOK = 0
	// ExitError means an operational error: API, rights, input or output.
	ExitError = 1
	// ExitUsage means a wrong flag or argument.
	ExitUsage = 2
	// ExitFindings means the command ran and found something at or above --fail-on.
	ExitFindings = failon.ExitCode
	// ExitInterrupted means the user interrupted the command.
	ExitInterrupted = 130
)

const exitCodesHelp = `Exit codes:

  0    the command ran; findings do not change it
  1    operational error: the API, rights, input or output; for diff and plan: there are differences;
       with --strict: the answer is incomplete
  2    wrong flag or argument; for diff and plan: operational error
  79   the command ran and found something at or above --fail-on
  130  interrupted; a --watch ended by ctrl-c exits with 0

With -o json or yaml, an error is also printed to standard output as a Status object of v1.
`

// usageError is a wrong flag or argument.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// ExitCode is the exit code an error of the root command stands for. A command of another package chooses its own with an
// error that has the method ExitCode() int.
func ExitCode(err error) int {
	var usage *usageError
	var coded interface{ ExitCode() int }
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &usage):
		return ExitUsage
	case errors.As(err, &coded):
		return coded.ExitCode()
	case errors.Is(err, context.Canceled):
		return ExitInterrupted
	default:
		return ExitError
	}
}
