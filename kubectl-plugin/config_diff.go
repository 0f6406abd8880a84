package kubectlplugin

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"koordinator.sh/koord/decision/config/configplan"
	decision "koordinator.sh/koord/decision/config/configuration"
	"koordinator.sh/koord/decision/core/configmerge"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/proposal"
)

const configDiffLong = `Compare the settings of the cluster's configuration, layer by layer, with a change, a file or a revision. Without any of them,
compare with the last revision that was kept, which shows what was changed with kubectl or another tool. No nodes are read.

Exit codes: 0 no differences, 1 differences, 2 the change has errors or the comparison failed.`

const configDiffExamples = `  # Compare a file in Git with the cluster
  %[1]s config diff -f slo-controller-config.yaml

  # Show what a rollback would change
  %[1]s config diff --revision 7

  # Show what was edited in the ConfigMap since the last revision
  %[1]s config diff`

type configDiffOptions struct {
	output
	proposalFlags
}

func newConfigDiffCommand(s *session) *cobra.Command {
	o := &configDiffOptions{}
	cmd := &cobra.Command{
		Use:               "diff [KEY.PATH=VALUE...]",
		Short:             "Compare settings with a file, a revision or a change",
		Long:              configDiffLong,
		Example:           fmt.Sprintf(configDiffExamples, s.Name),
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeKeyPaths(true, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.output.complete(); err != nil {
				return err
			}
			if err := o.proposalFlags.complete(args); err != nil {
				return err
			}
			return compared(o.run(cmd.Context(), s, args))
		},
	}
	o.output.addFlags(cmd, true)
	o.proposalFlags.addFlags(cmd, s)
	return cmd
}

func (o *configDiffOptions) run(ctx context.Context, s *session, args []string) (bool, error) {
	configurator, err := s.configurator()
	if err != nil {
		return false, err
	}
	current, err := s.configuration(ctx, configurator)
	if err != nil {
		return false, err
	}
	old, next := current.Data, current.Data
	if o.given(args) {
		next, err = o.data(ctx, s, configurator, current, args)
	} else {
		old, err = lastKept(ctx, s, configurator, current)
	}
	if err != nil {
		return false, err
	}
	if err := refuse(s, proposal.Change{Current: current, Data: next}, current.Judge(next, nil), "it cannot be compared"); err != nil {
		return false, err
	}
	changes := configplan.SettingChanges(readable(s, old), readable(s, next))
	list, err := listOf("ConfigSettingChange", changes, func(c *configplan.SettingChange) string { return decision.JoinKey(c.Key, c.Path) }, struct{}{})
	if err != nil {
		return false, err
	}
	return len(changes) > 0, o.print(s, list, "setting", func(w io.Writer, options printer.Options) error {
		return printer.ConfigSettings(w, changes, options)
	})
}

// lastKept is the data of the newest revision. Without any there is nothing to differ from: the configuration is as it was
// installed, as far as is known.
func lastKept(ctx context.Context, s *session, configurator source.Configurator, current *source.Configuration) (map[string]string, error) {
	revisions, err := configurator.Revisions(ctx, current.Namespace)
	if err != nil {
		return nil, err
	}
	if len(revisions) == 0 {
		s.tell("No revisions found; the first change made with %s config keeps one.", s.Name)
		return current.Data, nil
	}
	return revisions[len(revisions)-1].Data, nil
}

// readable parses a configuration for comparing and returns which keys cannot be compared.
func readable(s *session, data map[string]string) configmerge.Config {
	config, problems := configmerge.Parse(data)
	told := map[string]bool{}
	for _, problem := range problems {
		if problem.Rejects() && !told[problem.Key] {
			told[problem.Key] = true
			s.tell("incomplete: %s cannot be used and is compared as its default: %s", problem.Key, problem)
		}
	}
	return config
}
