package kubectlplugin

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

const treeGangLong = `Draw gangs with their pods, and gangs that start together below their group. With a name, draw that gang and those that start together
with it. A gang is a PodGroup, or what the annotations of its pods describe.

  STATE    of a gang: Invalid, Failed, Blocked, Short, Scheduling, Scheduled, Running or Finished; Missing for a gang that a group
           names and that does not exist or cannot be seen. Of a pod: its phase
  NEEDED   members that must run together; PODS exist, BOUND have a node, RUN run or have succeeded
  NETWORK  how close in the network the members must be: a rule and a layer, MustGather for one domain, PreferGather for few
  REASON   why a gang does not run, and why a pod has no node; koordctl explain gang has the next step

A gang that starts together with gangs of other namespaces is drawn with them.`

const treeGangExamples = `  # Draw the gangs of a namespace with their pods
  %[1]s tree gang -n ml

  # Draw a gang and those that start together with it
  %[1]s tree gang training -n ml

  # Print the gangs of all namespaces that are blocked
  %[1]s tree gang -A -o jsonpath='{range .items[?(@.state=="Blocked")]}{.metadata.namespace}/{.metadata.name}{"\n"}{end}'`

func newTreeGangCommand(s *session) *cobra.Command {
	return newDrawingCommand(s, source.KindGang, drawing[diagnosticsv1alpha1.GangExplanationList]{
		help:   help{short: "Draw gangs that start together, with their pods and what they wait for", long: treeGangLong, examples: treeGangExamples},
		scoped: true,
		ask: func(ctx context.Context, src source.Source, namespace, name string) (*diagnosticsv1alpha1.GangExplanationList, error) {
			viewer, can := src.(source.GangViewer)
			if !can {
				return nil, errors.New("draw gangs: not available from this source")
			}
			return viewer.GangTree(ctx, namespace, name)
		},
		count:      func(list *diagnosticsv1alpha1.GangExplanationList) int { return len(list.Items) },
		incomplete: func(list *diagnosticsv1alpha1.GangExplanationList) []string { return list.Incomplete },
		print:      printer.GangTree,
	})
}
