package kubectlplugin

import (
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
	return newScheduledCommand(s, source.KindReservation, help{
		short: "Explain why a Reservation has no node yet", long: explainReservationLong, examples: explainReservationExamples,
		answer: "PodExplanation",
	})
}
