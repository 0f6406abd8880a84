package kubectlplugin

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/source"
)

const configLong = `Read, check and change the configuration of co-location: ConfigMap slo-controller-config.

A key path names one value: KEY.PATH, such as colocation-config.cpuReclaimThresholdPercent for the cluster's value. The value
of a node strategy is named by the strategy, as in colocation-config.nodeConfigs[gold].enable, or by its index, as in
resource-threshold-config.nodeStrategies[0].enable.

Every change is validated as a whole and its plan is shown - what would change on which nodes, and for which pods - before it
is written. Each state is kept as a revision that rollback can return to.`

func newConfigCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "config",
		Short:   "Read, check, plan and change the configuration",
		Long:    configLong,
		GroupID: "run",
	}
	cmd.AddCommand(
		newConfigGetCommand(s), newConfigSetCommand(s), newConfigUnsetCommand(s), newConfigEditCommand(s), newConfigApplyCommand(s),
		newConfigDiffCommand(s), newConfigPlanCommand(s), newConfigHistoryCommand(s), newConfigRollbackCommand(s),
		newConfigExplainCommand(s), newConfigInitCommand(s), newConfigLintCommand(s),
	)
	return cmd
}

// configurator is the source as one whose configuration can be read and changed.
func (s *session) configurator() (source.Configurator, error) {
	src, err := s.connect()
	if err != nil {
		return nil, err
	}
	configurator, ok := src.(source.Configurator)
	if !ok {
		return nil, finding.Wrap(errors.New("read the configuration: this source is not a running cluster"), finding.InvalidArgument, "")
	}
	return configurator, nil
}

// systemNamespace is the one of -n; empty is the system's. The namespace of the context is where its user works.
func (s *session) systemNamespace() string { return s.namespaceFlag() }

// namespaceFlag is the namespace of -n; empty without.
func (s *session) namespaceFlag() string {
	if s.flags.Namespace == nil {
		return ""
	}
	return *s.flags.Namespace
}

// configuration reads the ConfigMap and reports what could not be read.
func (s *session) configuration(ctx context.Context, configurator source.Configurator) (*source.Configuration, error) {
	current, err := configurator.Configuration(ctx, s.systemNamespace())
	if err != nil {
		return nil, err
	}
	return current, incomplete(s, current.Incomplete, false)
}

// quietError carries an exit code and nothing to say.
type quietError struct{ code int }

func (e *quietError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// ExitCode is the code.
func (e *quietError) ExitCode() int { return e.code }

// Quiet says that there is nothing to print.
func (e *quietError) Quiet() bool { return true }

// comparing gives the errors of diff and plan their exit code, because 1 means that there are differences.
type comparing struct{ error }

// ExitCode is 2.
func (comparing) ExitCode() int { return ExitUsage }

// Unwrap returns the error.
func (e comparing) Unwrap() error { return e.error }

func compared(differs bool, err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case err != nil:
		return comparing{err}
	case differs:
		return &quietError{code: ExitError}
	}
	return nil
}

// completeKeyPaths completes the key, and then the fields below it. Of one that is to get a value, the equals sign too.
func completeKeyPaths(assign bool, most int) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if most > 0 && len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return keyPathsLike(prefix, assign), cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
	}
}

func configMapName(c *source.Configuration) string { return "configmap/" + c.Name }

// isKey says whether a text is a key of the ConfigMap.
func isKey(text string) bool {
	for _, key := range configuration.Keys() {
		if key == text {
			return true
		}
	}
	return false
}
