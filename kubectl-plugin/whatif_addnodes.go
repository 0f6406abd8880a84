package kubectlplugin

import (
	"fmt"

	"github.com/spf13/cobra"
)

const whatifAddNodesLong = `Show what more nodes would do for the pods that wait for one, without adding any: which pods get a node, which still get none
and why, and how full the cluster is then. koord-scheduler decides, by all of its plugins, in the order of its queue.

  TO       node that the pod gets; none or gated where it gets none
  WITHOUT  node that it would get without the new ones
  PODS     waiting pods that a new node takes

New nodes have the labels, taints and resources of an existing one, and the pods that DaemonSets put on it. At most
200 pods are looked at. Nothing is created.`

const whatifAddNodesExamples = `  # Show which waiting pods get a node with three more nodes like worker-1
  %[1]s whatif add-nodes worker-1=3

  # Compare two kinds of nodes
  %[1]s whatif add-nodes worker-1=2
  %[1]s whatif add-nodes gpu-worker-1

  # Fail in a script if pods would still wait
  %[1]s whatif add-nodes worker-1=3 --fail-on=error --strict`

func newWhatifAddNodesCommand(s *session) *cobra.Command {
	o := &placementOptions{}
	cmd := &cobra.Command{
		Use:               "add-nodes NODE[=COUNT]...",
		Aliases:           []string{"add-node"},
		Short:             "Show which waiting pods get a node when nodes are added",
		Long:              whatifAddNodesLong,
		Example:           fmt.Sprintf(whatifAddNodesExamples, s.Name),
		Annotations:       map[string]string{answerAnnotation: "PlacementForecast"},
		ValidArgsFunction: completeNodes(s),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("the name of a node is required that new ones are like, such as worker-1=3")
			}
			for _, arg := range args {
				if err := (*newNodesFlag)(&o.query.NewNodes).Set(arg); err != nil {
					return usage("%q: %w", arg, err)
				}
			}
			if err := o.complete(); err != nil {
				return err
			}
			return o.run(cmd.Context(), s)
		},
	}
	o.addFlags(cmd)
	return cmd
}
