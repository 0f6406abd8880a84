package kubectlplugin

import (
	"fmt"

	"github.com/spf13/cobra"

	"koordinator.sh/koord/source"
)

const explainReservationLong = `Explain why a Reservation has no node yet: the scheduler's own chain is run for the room that it reserves, on every node, and
the answer reads as for a pod that asks for as much. Changes that help are changes of the Reservation's template.

Reservations are in no namespace; the answer may be asked for from any namespace in which you may create podexplanations.`

const explainReservationExamples = `  # Why is it pending?
  %[1]s explain reservation nightly-batch

  # With the nodes of each group, the closest first, and the past attempts
  %[1]s explain reservation nightly-batch --nodes 20 --history`

func newExplainReservationCommand(s *session) *cobra.Command {
	o := &explainPodOptions{reservation: true}
	cmd := &cobra.Command{
		Use:               "reservation NAME",
		Aliases:           []string{"reservations", "resv"},
		Short:             "Explain why a Reservation has no node yet",
		Long:              explainReservationLong,
		Example:           fmt.Sprintf(explainReservationExamples, s.Name),
		Args:              exactlyOne("reservation name"),
		ValidArgsFunction: completeNames(s, source.KindReservation, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(cmd, s, args); err != nil {
				return err
			}
			return o.run(cmd.Context(), s)
		},
	}
	o.addFlags(cmd)
	return cmd
}
