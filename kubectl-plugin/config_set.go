package kubectlplugin

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"koordinator.sh/koord/source/proposal"
)

const configSetExamples = `  # Offer idle CPU to batch, up to 70 percent of a node
  %[1]s config set colocation-config.cpuReclaimThresholdPercent=70

  # Set a value for the nodes of one strategy
  %[1]s config set 'colocation-config.nodeConfigs[gold].cpuReclaimThresholdPercent=50'

  # Set a value without asking, in a script
  %[1]s config set resource-threshold-config.enable=true --yes -o json`

func newConfigSetCommand(s *session) *cobra.Command {
	o := &changeFlags{}
	cmd := &cobra.Command{
		Use:               "set KEY.PATH=VALUE...",
		Short:             "Set values, after showing the plan and asking",
		Example:           fmt.Sprintf(configSetExamples, s.Name),
		Args:              atLeastOne("KEY.PATH=VALUE"),
		ValidArgsFunction: completeKeyPaths(true, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(); err != nil {
				return err
			}
			return o.change(cmd.Context(), s, causeOf(s, cmd, args), func(data map[string]string) (map[string]string, error) {
				return assign(data, args)
			})
		},
	}
	o.addFlags(cmd)
	return cmd
}

// change reads the configuration, edits it and commits the result.
func (o *changeFlags) change(ctx context.Context, s *session, cause string, edit func(map[string]string) (map[string]string, error)) error {
	configurator, err := s.configurator()
	if err != nil {
		return err
	}
	current, err := s.configuration(ctx, configurator)
	if err != nil {
		return err
	}
	data, err := edit(current.Base())
	if err != nil {
		return err
	}
	return o.commit(ctx, s, configurator, proposal.Change{Current: current, Data: data, Cause: cause, Redo: edit})
}

// atLeastOne is for commands that need arguments; what names them.
func atLeastOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("at least one %s is required", what)
		}
		return nil
	}
}
