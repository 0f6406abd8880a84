package kubectlplugin

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

const whatifConfigLong = `Show what a change of the configuration would do for the pods that wait for a node, without making it: which pods get a node when
nodes offer more or less batch and mid, which get none any more, and how full the cluster is then. What nodes would offer is
that of config plan; koord-scheduler decides, by all of its plugins, in the order of its queue.

  TO       node that the pod gets; none or gated where it gets none
  WITHOUT  node that it would get without the change
  CHANGE   what all nodes offer more of a resource, or less

Pods stay on nodes that offer less than they request; config plan says which would be evicted. At most 200 pods are looked
at. Nothing is written or created.`

const whatifConfigExamples = `  # Show which waiting pods get a node when more cpu is reclaimed
  %[1]s whatif config colocation-config.cpuReclaimThresholdPercent=70

  # Show what a file would do, together with two more nodes like worker-1
  %[1]s whatif config -f slo-controller-config.yaml --new-nodes worker-1=2

  # Show what a rollback would do
  %[1]s whatif config --revision 7`

type whatifConfigOptions struct {
	placementOptions
	proposalFlags
}

func newWhatifConfigCommand(s *session) *cobra.Command {
	o := &whatifConfigOptions{}
	cmd := &cobra.Command{
		Use:               "config {KEY.PATH=VALUE... | -f FILE | --revision NUMBER}",
		Short:             "Show which waiting pods get a node when the configuration changes",
		Long:              whatifConfigLong,
		Example:           fmt.Sprintf(whatifConfigExamples, s.Name),
		Annotations:       map[string]string{answerAnnotation: "PlacementForecast"},
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeKeyPaths(true, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !o.given(args) {
				return usage("a change is required: KEY.PATH=VALUE, --filename or --revision")
			}
			if err := o.proposalFlags.complete(args); err != nil {
				return err
			}
			if err := o.placementOptions.complete(); err != nil {
				return err
			}
			return o.run(cmd.Context(), s, args)
		},
	}
	o.placementOptions.addFlags(cmd)
	o.proposalFlags.addFlags(cmd, s)
	o.addNewNodesFlag(cmd, s, "new-nodes", "Add this many nodes like an existing one, such as worker-1=2; may be given several times")
	return cmd
}

// run plans the change, and asks where pods go when it has come into force.
func (o *whatifConfigOptions) run(ctx context.Context, s *session, args []string) error {
	made, err := o.plan(ctx, s, args, "what it would do is not known")
	if err != nil {
		return err
	}
	o.query.Waiting, o.query.Offers = true, made.Offers()
	answer, err := o.ask(ctx, s)
	if err != nil {
		return err
	}
	return o.report(s, made.Forecast(answer))
}
