package kubectlplugin

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/kubectl-plugin/failon"
)

func newExplainCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use:     explainCommand,
		Short:   "Explain a " + alternatives(singular(kindsOf(explains))),
		GroupID: "see",
	}
	addNouns(cmd, s, explains)
	cmd.AddCommand(newExplainQoSCommand(s))
	cmd.AddCommand(newExplainEvictionCommand(s))
	cmd.AddCommand(newExplainAdmissionCommand(s))
	return cmd
}

// gate turns findings and an incomplete answer into exit codes for scripts.
type gate struct {
	failOn failon.Flag
	strict bool
}

func (g *gate) addFlags(cmd *cobra.Command) {
	g.failOn.AddTo(cmd)
	addStrictFlag(cmd, &g.strict)
}

func (g *gate) complete() error {
	if err := g.failOn.Validate(); err != nil {
		return &usageError{err}
	}
	return nil
}

// check says what the answer means for the exit code.
func (g *gate) check(s *session, found []diagnosticsv1alpha1.Finding, missing []string) error {
	if err := incomplete(s, missing, g.strict); err != nil {
		return err
	}
	return g.failOn.Check(found)
}

func addStrictFlag(cmd *cobra.Command, strict *bool) {
	cmd.Flags().BoolVar(strict, "strict", false, "Exit with 1 when the answer is incomplete")
}

// incomplete says on standard error what could not be seen; with strict that is a failure.
func incomplete(s *session, missing []string, strict bool) error {
	for _, what := range missing {
		fmt.Fprintln(s.Streams.ErrOut, s.say("incomplete: "+what))
	}
	if strict && len(missing) > 0 {
		return errors.New("the answer is incomplete")
	}
	return nil
}
