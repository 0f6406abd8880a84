package kubectlplugin

import (
	"fmt"

	"github.com/spf13/cobra"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source"
)

const forecastCapacityLong = `Show how many more pods like one that exists would get a node now, on which nodes, what refuses the next one,
and for how long they keep batch and mid resources.
koord-scheduler places one after the other, by all of its plugins: quotas, gangs, reservations, devices and load are
considered.

  COPIES      pods that a node takes
  OFFERED     what all nodes offer of a resource
  REQ-BEFORE  requests / offered, now
  REQ-AFTER   the same with the new pods

Where the pods request batch or mid resources, it also says for how long: what a node offers of them falls when services need more. The
rows are the times up to which koord-manager's predictors look, and how many of the pods keep what they request until then.

  WITHIN       hours from now; peak where only koordlet predicts, which knows the peak of services and not when it comes
  PODS         new pods that keep what they request
  UNPREDICTED  new pods on nodes of which nothing is predicted that far ahead
  FREE-...     the least that these nodes offer beyond what is requested now, without the new pods

With --new-nodes, the pods that wait for a node are placed first. Nothing is created.`

const forecastCapacityExamples = `  # Show how many more pods like a Spark executor fit
  %[1]s forecast capacity pod/executor-1 -n spark

  # The same for the pods of a workload, with two more nodes like worker-1
  %[1]s forecast capacity deployment/web --new-nodes worker-1=2

  # Show from what is predicted for how long they keep their batch resources, node by node
  %[1]s forecast capacity pod/executor-1 -n spark -o wide

  # Print the number alone
  %[1]s forecast capacity deployment/web -o jsonpath='{.copies.placed}'`

func newForecastCapacityCommand(s *session) *cobra.Command {
	o := &placementOptions{}
	cmd := &cobra.Command{
		Use:               "capacity TYPE/NAME",
		Short:             "Show how many more pods like one that exists would get a node",
		Long:              forecastCapacityLong,
		Example:           fmt.Sprintf(forecastCapacityExamples, s.Name),
		Annotations:       map[string]string{answerAnnotation: "PlacementForecast"},
		ValidArgsFunction: completeCopied(s, source.CopiedKinds),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return usage("a pod or workload is required: TYPE/NAME, such as pod/executor-1")
			}
			if most := o.query.Copied.Most; most < 1 || most > diagnosticsv1alpha1.MaxPlacementReviewCopies {
				return usage("--most %d: must be 1 to %d", most, diagnosticsv1alpha1.MaxPlacementReviewCopies)
			}
			if err := o.copied(s, source.CopiedKinds, args); err != nil {
				return err
			}
			if err := o.complete(); err != nil {
				return err
			}
			return o.run(cmd.Context(), s)
		},
	}
	o.addFlags(cmd)
	cmd.Flags().Int32Var(&o.query.Copied.Most, "most", source.DefaultMost, fmt.Sprintf("Stop after this many pods, at most %d", diagnosticsv1alpha1.MaxPlacementReviewCopies))
	o.addNewNodesFlag(cmd, s, "new-nodes", "Add this many nodes like an existing one before, such as worker-1=2; may be given several times")
	return cmd
}
