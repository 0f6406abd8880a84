package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/source"
)

// reservations lists the Reservations.
type reservations struct {
	list[[]schedulingv1alpha1.Reservation, reservationRow]
}

// reservationsScreen lists the Reservations, with what is reserved and what of it is taken.
func reservationsScreen(m *Model) *screen {
	l := &reservations{}
	l.table, l.rows, l.reason = newReservationTable(m.clock.Now), reservationRows, func(r *reservationRow, _ int) string { return r.why }
	l.object = func(r *reservationRow) object { return reservationObject(r.Name) }
	l.empty = func() (string, []string) {
		return "no Reservations in this cluster", []string{"a Reservation holds resources of a node for pods that come later; a migration makes one for each pod that it moves"}
	}
	m.reservationNames = func() []string {
		var out []string
		for _, r := range l.table.Rows() {
			out = append(out, r.Name)
		}
		return out
	}
	return &screen{
		name: reservationsName,
		doc:  "The Reservations: where each is, what it holds, what of that pods have taken, and until when",
		commands: []command{{name: "reservations", aliases: []string{"resv"}, args: "[/FILTER]", help: "list Reservations",
			run: commandList(reservationsName)}},
		keys: []action{
			bind(groupView, true, "enter", "explain", (*Model).explainSelected, "enter", "x"),
			bind(groupView, true, "n", "node", l.jump(reservedNode), "n"),
			bind(groupView, true, "p", "pod", l.jump(reservationUser), "p"),
			describeAction(), yamlAction(),
			sortAction("N", "NAME", false),
			sortAction("S", "STATE", true),
			sortAction("C", "CPU", true),
			sortAction("M", "MEMORY", true),
			sortAction("L", "LEFT", false),
		},
		summary: true,
		ask: func(*page) tea.Cmd {
			src := m.source
			return l.list.ask(m, "reservations", func(ctx context.Context) ([]schedulingv1alpha1.Reservation, error) { return askReservations(ctx, src) })
		},
		content: func(*page) content { return l.list.content() },
	}
}

func reservationObject(name string) object { return object{kind: source.KindReservation, name: name} }

func askReservations(ctx context.Context, src source.Source) ([]schedulingv1alpha1.Reservation, error) {
	lister, err := offered[source.ReservationLister](src, "list Reservations")
	if err != nil {
		return nil, err
	}
	return lister.Reservations(ctx)
}

// jump explains what the row under the cursor is about.
func (l *reservations) jump(to func(*schedulingv1alpha1.Reservation) object) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if row := l.table.Selected(); row != nil {
			return m.explainKnown(to(row.Reservation))
		}
		return nil
	}
}

// reservedNode is the node of a Reservation.
func reservedNode(r *schedulingv1alpha1.Reservation) object { return nodeObject(r.Status.NodeName) }

// reservationUser is the first pod that uses a Reservation.
func reservationUser(r *schedulingv1alpha1.Reservation) object {
	if len(r.Status.CurrentOwners) == 0 {
		return podObject("", "")
	}
	return podObject(r.Status.CurrentOwners[0].Namespace, r.Status.CurrentOwners[0].Name)
}
