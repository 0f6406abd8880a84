package kubectlplugin

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

const forecastMigrationsLong = `Forecast what the next rounds of koord-descheduler would move: which pods, from which node to which, and why these, with the
load of the nodes before and after. The decision is made by the descheduler's own code, from API objects and the
arguments in ConfigMap koord-descheduler-config. If nothing moves, it says why, with the numbers.

  ROUND  pass of the descheduler, 1 is the next
  IN     time until that pass, at the deschedulingInterval
  TO     a node that takes the pod; koord-scheduler makes the final choice

Plugins LowNodeLoad and LoadAwareRebalancing are forecast, the latter by the load that nodes report now in place of the
predicted one, and with the moves that koord-scheduler confirms, if you may create placementreviews. Other plugins that
are enabled are named. -o wide also lists other nodes that take the pod, its usage, the keys by which it was chosen, and
pods that were considered and stay.`

const forecastMigrationsExamples = `  # Forecast the next 10 rounds
  %[1]s forecast migrations

  # Show what would move in the next round only, with sort keys
  %[1]s forecast migrations --rounds 1 -o wide

  # Print the nodes that pods would leave
  %[1]s forecast migrations -o jsonpath='{.moves[*].from}'`

const mostForecastRounds = 100

type forecastMigrationsOptions struct {
	output
	strict bool
	rounds int32
}

func newForecastMigrationsCommand(s *session) *cobra.Command {
	o := &forecastMigrationsOptions{}
	cmd := &cobra.Command{
		Use:         "migrations",
		Aliases:     []string{"migration"},
		Short:       "Forecast which pods the descheduler moves, and where to",
		Long:        forecastMigrationsLong,
		Example:     fmt.Sprintf(forecastMigrationsExamples, s.Name),
		Annotations: map[string]string{answerAnnotation: "MigrationForecast"},
		Args:        cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.rounds < 1 || o.rounds > mostForecastRounds {
				return usage("--rounds %d: must be 1 to %d", o.rounds, mostForecastRounds)
			}
			if err := o.output.complete(); err != nil {
				return err
			}
			return o.run(cmd.Context(), s)
		},
	}
	o.output.addFlags(cmd, true)
	addStrictFlag(cmd, &o.strict)
	cmd.Flags().Int32Var(&o.rounds, "rounds", 10, "Look at this many rounds of the descheduler")
	return cmd
}

func (o *forecastMigrationsOptions) run(ctx context.Context, s *session) error {
	src, err := s.connect()
	if err != nil {
		return err
	}
	forecaster, can := src.(source.MigrationForecaster)
	if !can {
		return errors.New("this source does not forecast migrations")
	}
	defer s.collectLess()()
	answer, err := forecaster.ForecastMigrations(ctx, int(o.rounds))
	if err != nil {
		return err
	}
	if err := o.show(s, answer); err != nil {
		return err
	}
	return incomplete(s, answer.Incomplete, o.strict)
}

// show prints the forecast; by name, the pods that move.
func (o *forecastMigrationsOptions) show(s *session, answer *diagnosticsv1alpha1.MigrationForecast) error {
	if o.format != "name" {
		return o.print(s, answer, "", func(w io.Writer, options printer.Options) error { return printer.MigrationForecast(w, answer, options) })
	}
	for i := range answer.Moves {
		if _, err := fmt.Fprintf(s.Streams.Out, "%s/%s\n", source.KindPod.Name, answer.Moves[i].Name); err != nil {
			return err
		}
	}
	return nil
}
