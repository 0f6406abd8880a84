package kubectlplugin

import (
	"fmt"
	"maps"

	"github.com/spf13/cobra"

	decision "koordinator.sh/koord/decision/config/configuration"
)

const configUnsetExamples = `  # Return to the built-in default
  %[1]s config unset colocation-config.cpuReclaimThresholdPercent

  # Remove a node strategy
  %[1]s config unset 'colocation-config.nodeConfigs[gold]'

  # Remove a key
  %[1]s config unset cpu-burst-config`

func newConfigUnsetCommand(s *session) *cobra.Command {
	o := &changeFlags{}
	cmd := &cobra.Command{
		Use:               "unset KEY[.PATH]...",
		Short:             "Remove values, so that the layer below applies again",
		Example:           fmt.Sprintf(configUnsetExamples, s.Name),
		Args:              atLeastOne("KEY.PATH"),
		ValidArgsFunction: completeKeyPaths(false, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(); err != nil {
				return err
			}
			return o.change(cmd.Context(), s, causeOf(s, cmd, args), func(data map[string]string) (map[string]string, error) {
				return unset(data, args)
			})
		},
	}
	o.addFlags(cmd)
	return cmd
}

// unset removes values, or whole keys, from a copy of the data.
func unset(data map[string]string, names []string) (map[string]string, error) {
	out := maps.Clone(data)
	for _, name := range names {
		path, err := decision.ParseKeyPath(name)
		if err != nil {
			return nil, &usageError{err}
		}
		if isKey(name) {
			delete(out, name)
			continue
		}
		if out[path.Key], err = decision.Unset(out[path.Key], path); err != nil {
			return nil, err
		}
	}
	return out, nil
}
