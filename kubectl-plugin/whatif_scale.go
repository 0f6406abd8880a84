package kubectlplugin

import (
	"fmt"

	"github.com/spf13/cobra"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source"
)

const whatifScaleLong = `Show what kubectl scale would do, without doing it: which nodes the new pods of a workload get, why the first one without a node
is refused, and how full the cluster is then. koord-scheduler decides, by all of its plugins: quotas, gangs, reservations,
devices and load are considered.

  OFFERED     what all nodes offer of a resource
  REQ-BEFORE  requests / offered, now
  REQ-AFTER   the same with the new pods

With --new-nodes the answer is for a cluster with more nodes, on which pods that wait for a node are placed first. The workload
needs one pod that the new ones are like. Nothing is created.`

const whatifScaleExamples = `  # Show whether a Deployment can have 20 replicas
  %[1]s whatif scale deployment/web --replicas 20

  # Show whether it can with two more nodes like worker-1
  %[1]s whatif scale deployment/web --replicas 20 --new-nodes worker-1=2

  # Fail in a script if not all pods would get a node
  %[1]s whatif scale statefulset/db --replicas 5 --fail-on=error --strict`

func newWhatifScaleCommand(s *session) *cobra.Command {
	o := &placementOptions{}
	cmd := &cobra.Command{
		Use:               "scale TYPE/NAME --replicas COUNT",
		Short:             "Show whether more pods of a workload get nodes, and which",
		Long:              whatifScaleLong,
		Example:           fmt.Sprintf(whatifScaleExamples, s.Name),
		Annotations:       map[string]string{answerAnnotation: "PlacementForecast"},
		ValidArgsFunction: completeCopied(s, source.WorkloadKinds),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) < 1 || len(args) > 2:
				return usage("a workload is required: TYPE/NAME, such as deployment/web")
			case !cmd.Flags().Changed("replicas"):
				return usage("--replicas is required")
			case o.query.Copied.Replicas < 1:
				return usage("--replicas %d: must be 1 or more", o.query.Copied.Replicas)
			}
			if err := o.copied(s, source.WorkloadKinds, args); err != nil {
				return err
			}
			if err := o.complete(); err != nil {
				return err
			}
			return o.run(cmd.Context(), s)
		},
	}
	o.addFlags(cmd)
	cmd.Flags().Int32Var(&o.query.Copied.Replicas, "replicas", 0, fmt.Sprintf("Number of replicas of the workload, at most %d more than it has", diagnosticsv1alpha1.MaxPlacementReviewCopies))
	o.addNewNodesFlag(cmd, s, "new-nodes", "Add this many nodes like an existing one before, such as worker-1=2; may be given several times")
	return cmd
}
