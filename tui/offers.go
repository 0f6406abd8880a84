package tui

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/cell"
)

// whatifScreen shows which waiting pods get a node when the configuration changes.
func whatifScreen(m *Model) *screen {
	f := &placement{Model: m}
	return &screen{
		name: whatifName,
		doc: "What a change of the configuration would do for the pods that wait for a node: which get one when nodes offer more or less, and how full " +
			"the cluster is then. Nothing is changed, and koord-scheduler is asked once, again with `ctrl-r`",
		commands: []command{{name: whatifName, args: "KEY.PATH=VALUE", help: "forecast where waiting pods go by a change",
			complete: m.settings.changes.assignments, run: commandOn(whatifName)}},
		crumb: func(*page) string { return "what if" },
		title: func(p *page) string { return cell.Clean("what if " + p.about.name) },
		ask: func(p *page) tea.Cmd {
			src, now, about := m.source, m.clock.Now, p.about.name
			return askWithin(m, &f.answer, askOnceTimeout, about, func(ctx context.Context) (*diagnostics.PlacementForecast, error) {
				return askOffers(ctx, src, about, now)
			})
		},
		once:    true,
		content: f.content,
	}
}

// askOffers asks where waiting pods go with the offers of another configuration.
func askOffers(ctx context.Context, src source.Source, assignment string, now func() time.Time) (*diagnostics.PlacementForecast, error) {
	forecaster, err := offered[source.PlacementForecaster](src, "forecast placements")
	if err != nil {
		return nil, err
	}
	plan, err := askPlan(ctx, src, assignment, now)
	if err != nil {
		return nil, err
	}
	if found := plan.Change.Rejected(plan.Found); len(found) > 0 {
		return nil, finding.Wrap(errors.New("the new configuration has errors, and what it would do is not known: "+found[0].Message), found[0].Code, "")
	}
	answer, err := forecaster.ForecastPlacement(ctx, source.PlacementQuery{Waiting: true, Offers: plan.Offers()})
	if err != nil {
		return nil, err
	}
	return plan.Forecast(answer), nil
}
