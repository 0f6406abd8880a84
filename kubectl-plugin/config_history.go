package kubectlplugin

import (
	"context"
	"fmt"
	"io"
	"maps"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"koordinator.sh/koord/decision/config/configplan"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/proposal"
)

const configHistoryLong = `List the revisions of the configuration, the newest last, with what changed in each. They are ControllerRevisions in the
system's namespace, at most 20, and stay when the ConfigMap is deleted. A state written with kubectl is kept when the next
change is made with this command.`

type configHistoryOptions struct {
	output
}

func newConfigHistoryCommand(s *session) *cobra.Command {
	o := &configHistoryOptions{}
	cmd := &cobra.Command{
		Use:     "history",
		Short:   "List the revisions of the configuration",
		Long:    configHistoryLong,
		Example: fmt.Sprintf("  # Show who changed what\n  %[1]s config history\n\n  # Print the data of revision 7\n  %[1]s config history -o jsonpath='{.items[?(@.revision==7)].data}'", s.Name),
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.complete(); err != nil {
				return err
			}
			return o.run(cmd.Context(), s)
		},
	}
	o.addFlags(cmd, true)
	return cmd
}

// revisionObject is a revision as it is printed.
type revisionObject struct {
	// Revision number.
	Revision int64 `json:"revision"`
	// Time it was kept, User who wrote it and Cause, the command.
	Time  time.Time `json:"time"`
	User  string    `json:"user,omitempty"`
	Cause string    `json:"cause,omitempty"`
	// InForce is true when the ConfigMap holds it.
	InForce bool `json:"inForce,omitempty"`
	// Changes against the revision before.
	Changes []configplan.SettingChange `json:"changes,omitempty"`
	// Data of the ConfigMap.
	Data map[string]string `json:"data"`
}

func (o *configHistoryOptions) run(ctx context.Context, s *session) error {
	configurator, err := s.configurator()
	if err != nil {
		return err
	}
	current, err := s.configuration(ctx, configurator)
	if err != nil {
		return err
	}
	revisions, err := configurator.Revisions(ctx, current.Namespace)
	if err != nil {
		return err
	}
	objects := describeRevisions(revisions, current)
	list, err := listOf("ConfigRevision", objects, func(r *revisionObject) string { return strconv.FormatInt(r.Revision, 10) }, struct{}{})
	if err != nil {
		return err
	}
	if len(objects) == 0 && o.text() {
		s.tell("No revisions found; the first change made with %s config keeps one.", s.Name)
		return nil
	}
	return o.print(s, list, "configrevision", func(w io.Writer, options printer.Options) error {
		rows := make([]printer.ConfigRevision, len(objects))
		for i, r := range objects {
			rows[i] = printer.ConfigRevision{Number: r.Revision, Time: r.Time, User: r.User, Cause: r.Cause, InForce: r.InForce, Changes: r.Changes}
		}
		return printer.ConfigHistory(w, rows, options)
	})
}

func describeRevisions(revisions []source.Revision, current *source.Configuration) []revisionObject {
	out := make([]revisionObject, 0, len(revisions))
	for i, revision := range revisions {
		object := revisionObject{Revision: revision.Number, Time: revision.Time, User: revision.User, Cause: revision.Cause, Data: revision.Data,
			InForce: current.Exists && i == len(revisions)-1 && maps.Equal(revision.Data, current.Data)}
		if i > 0 {
			object.Changes = configplan.SettingChanges(proposal.InForce(revisions[i-1].Data, nil), proposal.InForce(revision.Data, nil))
		}
		out = append(out, object)
	}
	return out
}
