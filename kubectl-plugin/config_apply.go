package kubectlplugin

import (
	"context"
	"fmt"
	"maps"

	"github.com/spf13/cobra"

	"koordinator.sh/koord/source/proposal"
)

const configApplyLong = `Write a configuration from a file: a ConfigMap, or its data alone. Keys that the file does not name stay as they are.

The configuration is validated as a whole, its plan is shown, and you are asked; then it is written in one request, unless it
was modified since the plan was made. Every state is kept as a revision that rollback can return to.`

const configApplyExamples = `  # Show the plan, then ask
  %[1]s config apply -f slo-controller-config.yaml

  # Write without asking, in a pipeline
  %[1]s config apply -f slo-controller-config.yaml --yes -o json`

func newConfigApplyCommand(s *session) *cobra.Command {
	o := &changeFlags{}
	proposed := &proposalFlags{}
	cmd := &cobra.Command{
		Use:     "apply -f FILE",
		Short:   "Apply a configuration from a file, after showing the plan and asking",
		Long:    configApplyLong,
		Example: fmt.Sprintf(configApplyExamples, s.Name),
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if proposed.file == "" {
				return usage("must specify --filename")
			}
			o.inputTaken = proposed.file == "-"
			if err := o.complete(); err != nil {
				return err
			}
			return applyProposal(cmd.Context(), s, o, proposed, causeOf(s, cmd, []string{"-f", proposed.file}))
		},
	}
	o.addFlags(cmd)
	cmd.Flags().StringVarP(&proposed.file, "filename", "f", "", "File that contains the configuration, - for standard input")
	return cmd
}

// applyProposal commits what a file or a revision holds.
func applyProposal(ctx context.Context, s *session, o *changeFlags, proposed *proposalFlags, cause string) error {
	configurator, err := s.configurator()
	if err != nil {
		return err
	}
	current, err := s.configuration(ctx, configurator)
	if err != nil {
		return err
	}
	data, err := proposed.data(ctx, s, configurator, current, nil)
	if err != nil {
		return err
	}
	c := proposal.Change{Current: current, Data: data, Cause: cause, Whole: true}
	if proposed.file != "" {
		c.Redo = func(fresh map[string]string) (map[string]string, error) {
			return replaceKeys(current.Data, data, fresh), nil
		}
	}
	return o.commit(ctx, s, configurator, c)
}

// replaceKeys makes the change from before to after in another state, key by key.
func replaceKeys(before, after, other map[string]string) map[string]string {
	out := maps.Clone(other)
	if out == nil {
		out = map[string]string{}
	}
	for key := range before {
		if _, stays := after[key]; !stays {
			delete(out, key)
		}
	}
	for key, text := range after {
		if old, had := before[key]; !had || old != text {
			out[key] = text
		}
	}
	return out
}
