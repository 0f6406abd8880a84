package kubectlplugin

import (
	"github.com/spf13/cobra"

	"koordinator.sh/koord/source"
)

const explainReservationLong = `Explain why a Reservation has no node yet: the scheduler's own plugins are run for the resources that it reserves, on every
node, and the answer reads as for a pod with the same requests. Suggested changes are changes of the Reservation's template.

Reservations are cluster-scoped; use -n to name a namespace in which you may create podexplanations.`

const explainReservationExamples = `  # Explain why a Reservation is pending
  %[1]s explain reservation nightly-batch

  # List the nodes of each group, the closest first, and the past attempts
  %[1]s explain reservation nightly-batch --nodes 20 --history`

func newExplainReservationCommand(s *session) *cobra.Command {
	return newScheduledCommand(s, source.KindReservation, help{
		short: "Explain why a Reservation has no node yet", long: explainReservationLong, examples: explainReservationExamples,
		answer: "PodExplanation",
	})
}
