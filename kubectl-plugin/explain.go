package kubectlplugin

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

func newExplainCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "explain",
		Short:   "Explain a node's resources, the place of a pod or a reservation, or a recommendation",
		GroupID: "see",
	}
	cmd.AddCommand(newExplainNodeCommand(s), newExplainPodCommand(s), newExplainReservationCommand(s), newExplainQoSCommand(s), newExplainRecommendationCommand(s))
	return cmd
}

// gate turns findings and an incomplete answer into exit codes for scripts.
type gate struct {
	failOn string
	strict bool
}

var severities = []string{"info", "warning", "error"}

func (g *gate) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&g.failOn, "fail-on", "", "Exit with 79 on a finding of at least this severity: error, warning or info")
	addStrictFlag(cmd, &g.strict)
	must(cmd.RegisterFlagCompletionFunc("fail-on", cobra.FixedCompletions(severities, cobra.ShellCompDirectiveNoFileComp)))
}

func (g *gate) complete() error {
	if g.failOn != "" && !slices.Contains(severities, g.failOn) {
		return usage("--fail-on %q: must be error, warning or info", g.failOn)
	}
	return nil
}

// check says what the answer means for the exit code.
func (g *gate) check(s *session, found []diagnosticsv1alpha1.Finding, missing []string) error {
	if err := incomplete(s, missing, g.strict); err != nil || g.failOn == "" {
		return err
	}
	var codes []string
	for _, f := range found {
		if slices.Index(severities, string(f.Severity)) >= slices.Index(severities, g.failOn) {
			codes = append(codes, f.Code)
		}
	}
	if len(codes) == 0 {
		return nil
	}
	return &findingsError{err: fmt.Errorf("findings at or above %s: %s", g.failOn, strings.Join(codes, ", "))}
}

func addStrictFlag(cmd *cobra.Command, strict *bool) {
	cmd.Flags().BoolVar(strict, "strict", false, "Exit with 1 when the answer is incomplete")
}

// incomplete says on standard error what could not be seen; with strict that is a failure.
func incomplete(s *session, missing []string, strict bool) error {
	for _, what := range missing {
		fmt.Fprintf(s.Streams.ErrOut, "incomplete: %s\n", s.errorStyle().Clean(what))
	}
	if strict && len(missing) > 0 {
		return errors.New("the answer is incomplete")
	}
	return nil
}
