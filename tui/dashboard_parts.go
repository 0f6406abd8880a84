package tui

import (
	"cmp"
	"context"
	"slices"
	"time"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/noderesource/workersview"
	"koordinator.sh/koord/decision/scheduling/deviceview"
	"koordinator.sh/koord/decision/scheduling/fitmessage"
	"koordinator.sh/koord/decision/scheduling/reservationview"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/quantity"
	"koordinator.sh/koord/tui/internal/style"
)

// soon is how long before its end a Reservation is something that happens next.
const soon = time.Hour

// matters are what matters in lists, and what of them could not be read.
type matters struct {
	rows    []matter
	missing []string
}

// part asks one list what matters in it.
type part struct {
	list string
	ask  func(ctx context.Context, src source.Source, now time.Time) ([]matter, error)
}

// matterParts are the lists that the dashboard sums up beside the nodes, and forecastParts what takes longer.
var (
	matterParts = []part{
		{podsName, podMatters}, {quotasName, quotaMatters}, {gangsName, gangMatters}, {reservationsName, reservationMatters},
		{workersName, workersMatters}, {devicesName, deviceMatters}, {migrationsName, migrationMatters},
	}
	forecastParts = []part{{forecastName, forecastMatters}}
)

// mattersOf asks one part after the other: each may read all pods, which are not to be in memory several times. A list of what is not
// installed has nothing that matters.
func mattersOf(ctx context.Context, src source.Source, now time.Time, parts []part) matters {
	var all matters
	for _, p := range parts {
		rows, err := p.ask(ctx, src, now)
		all.rows = append(all.rows, rows...)
		if coded, ok := finding.From(err); err != nil && (!ok || coded.Code != finding.NotInstalled) {
			all.missing = append(all.missing, p.list+": "+err.Error())
		}
	}
	return all
}

func nodeMatters(rows []nodeRow) []matter {
	return grouped(nodesName, rows, func(r *nodeRow) (matter, bool) {
		return matter{
			state: r.state.word(), rank: int(r.state), about: nodeObject(r.Name), text: nodeTrouble(r),
			mark: func(st *style.Set) (string, style.Style) { return stateMark(r.state, st) },
		}, nodeProblem(r)
	})
}

// nodeTrouble is what is wrong with a node.
func nodeTrouble(r *nodeRow) string {
	switch r.state {
	case notReady:
		return "its Ready condition is not True"
	case cordoned:
		return "spec.unschedulable is true"
	case metricStale:
		return "the NodeMetric is stale"
	}
	return r.Load.Message
}

// notRunning selects the pods that podProblem keeps.
const notRunning = "status.phase!=Running,status.phase!=Succeeded"

// podMatters are pods by their phase, and those without a node by what refuses most nodes.
func podMatters(ctx context.Context, src source.Source, _ time.Time) ([]matter, error) {
	list, err := src.Pods(ctx, source.PodQuery{FieldSelector: notRunning, NoUse: true})
	if err != nil {
		return nil, err
	}
	return grouped(podsName, podRows(list), func(r *podRow) (matter, bool) {
		return matter{
			state: string(r.Phase), cause: causeOf(r.Reason), about: podObject(r.Namespace, r.Name), text: r.Reason,
			mark: func(st *style.Set) (string, style.Style) { return phaseMark(r.Phase, st) },
		}, podProblem(r)
	}), nil
}

// causeOf is what pods with a reason have in common: what refuses most nodes, or the reason itself.
func causeOf(reason string) string {
	refusals := fitmessage.Refusals(reason)
	if len(refusals) == 0 {
		return reason
	}
	return slices.MaxFunc(refusals, func(a, b fitmessage.Refusal) int { return cmp.Compare(a.Nodes, b.Nodes) }).Reason
}

func quotaMatters(ctx context.Context, src source.Source, _ time.Time) ([]matter, error) {
	all, err := askQuotas(ctx, src)
	if err != nil {
		return nil, err
	}
	return grouped(quotasName, quotaRows(all, ""), func(r *quotaRow) (matter, bool) {
		return matter{
			state: r.state.word(), rank: r.state.rank(), mark: r.state.mark, about: quotaObject(r.Namespace, r.Name), text: r.why,
		}, quotaProblem(r)
	}), nil
}

func gangMatters(ctx context.Context, src source.Source, _ time.Time) ([]matter, error) {
	all, err := askGangs(ctx, src)
	if err != nil {
		return nil, err
	}
	return grouped(gangsName, gangRows(all), func(r *gangRow) (matter, bool) {
		return matter{
			state: r.state.word(), rank: r.state.rank(), mark: r.state.mark, about: gangObject(r.Namespace, r.Name), text: r.why,
		}, gangProblem(r)
	}), nil
}

func workersMatters(ctx context.Context, src source.Source, _ time.Time) ([]matter, error) {
	list, err := askWorkers(ctx, src, source.WorkersQuery{})
	if err != nil {
		return nil, err
	}
	return grouped(workersName, workersRows(list), func(r *workersRow) (matter, bool) {
		return matter{
			state: r.State, rank: workersview.Rank(r.State), about: workersObject(r.Namespace, r.Name), text: r.Message,
			mark: func(st *style.Set) (string, style.Style) { return workersMark(r.WorkersExplanation, st) },
		}, workersProblem(r)
	}), nil
}

// reservationMatters are Reservations with a problem, and those that end soon.
func reservationMatters(ctx context.Context, src source.Source, now time.Time) ([]matter, error) {
	all, err := askReservations(ctx, src)
	if err != nil {
		return nil, err
	}
	return grouped(reservationsName, reservationRows(all), func(r *reservationRow) (matter, bool) {
		row := matter{
			state: string(r.state), rank: reservationview.Rank(r.state), about: reservationObject(r.Name), text: r.why,
			mark: func(st *style.Set) (string, style.Style) { return reservationMark(r.state, st) },
		}
		if reservationProblem(r) {
			return row, true
		}
		end := expiryOf(r)
		if end == nil || end.Sub(now) > soon {
			return row, false
		}
		row.state, row.next, row.text = "Ending", true, "ends in "+quantity.Age(end.Sub(now))
		return row, true
	}), nil
}

func deviceMatters(ctx context.Context, src source.Source, _ time.Time) ([]matter, error) {
	all, err := askDevices(ctx, src)
	if err != nil {
		return nil, err
	}
	var rows []deviceRow
	for _, kind := range deviceKinds(all) {
		rows = append(rows, deviceRows(all, kind)...)
	}
	return grouped(devicesName, rows, func(r *deviceRow) (matter, bool) {
		return matter{
			state: string(r.State), rank: deviceview.Rank(r.State), about: deviceObject(r.node), text: cmp.Or(r.Reason, r.Type),
			mark: func(st *style.Set) (string, style.Style) { return deviceMark(r.State, st) },
		}, deviceProblem(r)
	}), nil
}

// migrationMatters are jobs with a problem, and those under way.
func migrationMatters(ctx context.Context, src source.Source, _ time.Time) ([]matter, error) {
	all, err := askMigrations(ctx, src)
	if err != nil {
		return nil, err
	}
	return grouped(migrationsName, migrationRows(all), func(r *migrationRow) (matter, bool) {
		return matter{
			state: r.state.word(), rank: int(r.state), mark: r.state.mark, about: migrationObject(r.Name), text: migrationReason(r, 0),
			next: !migrationProblem(r),
		}, r.state != migrationSucceeded
	}), nil
}

// forecastMatters is the next move of the descheduler, and how many follow.
func forecastMatters(ctx context.Context, src source.Source, _ time.Time) ([]matter, error) {
	forecast, err := askForecast(ctx, src)
	if err != nil {
		return nil, err
	}
	return grouped(forecastName, moveRows(forecast), func(r *moveRow) (matter, bool) {
		text := "leaves " + r.From + " for " + moveTarget(r) + ": " + r.Reason
		if r.Seconds > 0 {
			text = "in " + quantity.AgeSeconds(r.Seconds) + " " + text
		}
		return matter{
			state: "Moves", about: podObject(r.Namespace, r.Name), text: text, next: true,
			mark: func(st *style.Set) (string, style.Style) { return st.Wait, st.Info },
		}, true
	}), nil
}

// checkMatters are checks that did not pass.
func (m *Model) checkMatters(ctx context.Context, _ source.Source, _ time.Time) ([]matter, error) {
	found, err := m.checkInstallation(ctx)
	if err != nil {
		return nil, err
	}
	var rows []printer.CheckRow
	for _, group := range troubled(found.Groups) {
		rows = append(rows, group.Rows...)
	}
	return grouped(checksName, rows, func(r *printer.CheckRow) (matter, bool) {
		text := r.Detail
		if len(r.Notes) > 0 {
			text = r.Notes[0].Code + " " + r.Notes[0].Message
		}
		row := matter{state: r.State, about: object{kind: source.Kind{Name: "check"}, name: r.ID}, text: text,
			mark: func(st *style.Set) (string, style.Style) { return roleStyle(r.Role, st) }}
		if r.Role != printer.Bad {
			row.rank = 1
		}
		return row, true
	}), nil
}
