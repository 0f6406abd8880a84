package kubectlplugin

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/spf13/cobra"

	"koordinator.sh/koord/source/proposal"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/source"
)

const configRollbackExamples = `  # Return to the state before the last change
  %[1]s config rollback

  # Return to a revision of config history
  %[1]s config rollback --to 7 --yes`

func newConfigRollbackCommand(s *session) *cobra.Command {
	o := &changeFlags{}
	proposed := &proposalFlags{}
	cmd := &cobra.Command{
		Use:     "rollback",
		Short:   "Return to an earlier revision, after showing the plan and asking",
		Example: fmt.Sprintf(configRollbackExamples, s.Name),
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.complete(); err != nil {
				return err
			}
			return o.rollback(cmd.Context(), s, proposed, causeOf(s, cmd, nil))
		},
	}
	o.addFlags(cmd)
	cmd.Flags().Int64Var(&proposed.revision, "to", 0, "Revision to return to; 0 is the last one that differs from the current state")
	must(cmd.RegisterFlagCompletionFunc("to", completeRevisions(s)))
	return cmd
}

// rollback returns to a revision. A ConfigMap that was deleted is made again with what is in force, unless a revision is named.
func (o *changeFlags) rollback(ctx context.Context, s *session, proposed *proposalFlags, cause string) error {
	configurator, err := s.configurator()
	if err != nil {
		return err
	}
	if proposed.revision == 0 {
		current, err := configurator.Configuration(ctx, s.systemNamespace())
		if err != nil {
			return err
		}
		if !current.Exists && len(current.LastGood) > 0 {
			return o.commit(ctx, s, configurator, proposal.Change{Current: current, Data: current.LastGood, Cause: cause, Whole: true})
		}
		if proposed.revision, err = revisionBefore(ctx, current, configurator); err != nil {
			return err
		}
	}
	return applyProposal(ctx, s, o, proposed, fmt.Sprintf("%s --to %d", cause, proposed.revision))
}

var errNoRevision = finding.Wrap(errors.New("there is no earlier revision of the configuration"), finding.NotFound, "koordctl config history")

// revisionBefore is the newest revision that holds something else than the cluster does.
func revisionBefore(ctx context.Context, current *source.Configuration, configurator source.Configurator) (int64, error) {
	revisions, err := configurator.Revisions(ctx, current.Namespace)
	if err != nil {
		return 0, err
	}
	for i := len(revisions) - 1; i >= 0; i-- {
		if !maps.Equal(revisions[i].Data, current.Data) {
			return revisions[i].Number, nil
		}
	}
	return 0, errNoRevision
}

func findRevision(ctx context.Context, configurator source.Configurator, namespace string, number int64) (source.Revision, error) {
	revisions, err := configurator.Revisions(ctx, namespace)
	if err != nil {
		return source.Revision{}, err
	}
	for _, revision := range revisions {
		if revision.Number == number {
			return revision, nil
		}
	}
	return source.Revision{}, finding.Wrap(fmt.Errorf("revision %d not found", number), finding.NotFound, "koordctl config history")
}
