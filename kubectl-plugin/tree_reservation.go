package kubectlplugin

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

const treeReservationLong = `Draw Reservations with the pods that use them: what each holds, how much of it pods have taken and what is left, as koord-scheduler
published it, and until when.

  STATE    of a Reservation: Missing (pods use it, and it does not exist), Failed, Overused (pods have taken more than it holds),
           Blocked (no node has room), Cordoned, Pending, Idle, Used, Expired or Succeeded. Of a pod: its phase, or Gone for one
           that the Reservation names and that does not exist or has ended
  CPU      taken / reserved; CPU-FREE is left. Of a pod: what it requests. In cores
  EXPIRES  time left

The columns of memory are alike; -o wide adds those of all other resources, which pods may use a Reservation, and the reason of its state.`

const treeReservationExamples = `  # Draw all Reservations with the pods that use them
  %[1]s tree reservation

  # Draw one Reservation, with every resource and its owners
  %[1]s tree reservation nightly-batch -o wide

  # Print the Reservations that no pod uses
  %[1]s tree reservation -o jsonpath='{.items[?(@.state=="Idle")].metadata.name}'`

func newTreeReservationCommand(s *session) *cobra.Command {
	return newDrawingCommand(s, source.KindReservation, drawing[diagnosticsv1alpha1.ReservationOverviewList]{
		help: help{short: "Draw Reservations with the pods that use them: reserved, taken and free", long: treeReservationLong, examples: treeReservationExamples},
		ask: func(ctx context.Context, src source.Source, _, name string) (*diagnosticsv1alpha1.ReservationOverviewList, error) {
			viewer, can := src.(source.ReservationViewer)
			if !can {
				return nil, errors.New("draw Reservations: not available from this source")
			}
			return viewer.ReservationTree(ctx, name)
		},
		count:      func(list *diagnosticsv1alpha1.ReservationOverviewList) int { return len(list.Items) },
		incomplete: func(list *diagnosticsv1alpha1.ReservationOverviewList) []string { return list.Incomplete },
		print:      printer.ReservationTree,
	})
}
