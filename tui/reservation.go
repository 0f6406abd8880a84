package tui

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	coreamount "koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/scheduling/reservationview"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/bar"
	"koordinator.sh/koord/tui/internal/cell"
)

// reservationPage explains one Reservation.
type reservationPage struct {
	*Model
	answer feed[*schedulingv1alpha1.Reservation]
	// scheduling is why a Reservation has no node; it is asked for while that is so.
	scheduling pod
}

// reservationScreen shows what a Reservation holds and who uses it, or why it has no node.
func reservationScreen(m *Model) *screen {
	d := &reservationPage{Model: m, scheduling: pod{Model: m}}
	return &screen{
		name: reservationName,
		doc:  "One Reservation: what it holds, who may use it and who does, or why it has no node yet",
		commands: []command{{name: "reservation", args: "NAME", help: "explain a Reservation", complete: (*Model).knownReservations,
			run: func(m *Model, args string) tea.Cmd {
				return m.commandAbout(source.KindReservation, "reservation", args)
			}}},
		keys: []action{
			bind(groupView, true, "enter", "expand nodes", func(m *Model) tea.Cmd {
				m.page().unfolded = !m.page().unfolded
				return nil
			}, "enter"),
			bind(groupView, true, "n", "node", d.jump(reservedNode), "n"),
			bind(groupView, true, "x p", "explain pod", d.jump(reservationUser), "x", "p"),
			describeAction(), yamlAction(),
		},
		subject: &subject{kind: source.KindReservation, names: m.knownReservations, describe: m.describeReservation, explanation: reservationExplanation},
		crumb:   func(p *page) string { return p.about.name },
		title:   func(p *page) string { return "reservation " + cell.Clean(p.about.name) },
		ask:     d.ask,
		learned: d.learned,
		content: func(*page) content {
			c := content{feed: &d.answer.feedState, text: d.text}
			if d.waits() && d.scheduling.explanation.known && d.scheduling.explanation.question == d.answer.question {
				c.incomplete = d.scheduling.explanation.value.Status.Incomplete
			}
			return c
		},
	}
}

// knownReservations are the names of the Reservations that were listed last.
func (m *Model) knownReservations() []string { return m.reservationNames() }

func (d *reservationPage) ask(p *page) tea.Cmd {
	src, about := d.source, p.about
	question := ask(d.Model, &d.answer, about.name, func(ctx context.Context) (*schedulingv1alpha1.Reservation, error) {
		return askReservation(ctx, src, about)
	})
	return tea.Batch(question, d.askScheduling(p))
}

// learned asks why the Reservation has no node as soon as it is known that it has none.
func (d *reservationPage) learned(p *page) tea.Cmd {
	if d.scheduling.explanation.question == p.about.name {
		return nil
	}
	return d.askScheduling(p)
}

func (d *reservationPage) askScheduling(p *page) tea.Cmd {
	if !d.waits() {
		return nil
	}
	src, name, namespace := d.source, p.about.name, d.defaultNamespace()
	return ask(d.Model, &d.scheduling.explanation, name, func(ctx context.Context) (*diagnostics.PodExplanation, error) {
		return src.ExplainPod(ctx, namespace, "", diagnostics.PodExplanationSpec{ReservationName: name})
	})
}

// waits reports whether the Reservation has no node yet.
func (d *reservationPage) waits() bool {
	if !d.answer.known {
		return false
	}
	state, _ := reservationview.StateOf(d.answer.value)
	return state == diagnostics.ReservationBlocked || state == diagnostics.ReservationPending
}

func askReservation(ctx context.Context, src source.Source, about object) (*schedulingv1alpha1.Reservation, error) {
	all, err := askReservations(ctx, src)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Name == about.name {
			return &all[i], nil
		}
	}
	return nil, finding.Wrap(fmt.Errorf("reservation %q not found", about.name), finding.NotFound, "kubectl get reservations")
}

func reservationExplanation(ctx context.Context, src source.Source, about object) (any, []string, error) {
	r, err := askReservation(ctx, src, about)
	if err != nil {
		return nil, nil, err
	}
	r = r.DeepCopy()
	r.TypeMeta = metav1.TypeMeta{APIVersion: schedulingv1alpha1.GroupVersion.String(), Kind: "Reservation"}
	return r, nil, nil
}

func (m *Model) describeReservation(ctx context.Context, src source.Source, about object) (detail, error) {
	r, err := askReservation(ctx, src, about)
	if err != nil {
		return detail{}, err
	}
	return detail{text: func(width int) []string { return m.reservationText(r, width) }}, nil
}

func (d *reservationPage) jump(to func(*schedulingv1alpha1.Reservation) object) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if !d.answer.known {
			return nil
		}
		return m.explainKnown(to(d.answer.value))
	}
}

func (d *reservationPage) text(width int) []string {
	lines := d.reservationText(d.answer.value, width)
	why := &d.scheduling.explanation
	switch {
	case !d.waits() || why.question != d.answer.question:
	case why.known:
		lines = append(append(lines, "", "  "+d.st.Title.Render(d.st.Say("why it has no node"))), d.scheduling.podText(width)...)
	case why.err != nil:
		lines = append(lines, d.sentence("why it has no node is unknown: "+why.err.Error(), width)...)
	}
	return lines
}

// reservationText is what a Reservation holds, and who uses it.
func (m *Model) reservationText(r *schedulingv1alpha1.Reservation, width int) []string {
	st := m.st
	state, why := reservationview.StateOf(r)
	glyph, text := reservationMark(state, st)
	lines := []string{m.heading(text.Render(glyph+" "+string(state)), r.Name, "", width)}
	lines = append(lines, m.sentence(why, width)...)
	ends := ""
	if at := expiryOf(&reservationRow{Reservation: r, state: state}); at != nil {
		ends = untilText(at, m.clock.Now())
	}
	lines = append(append(lines, ""), m.factsText([]fact{
		{"node", r.Status.NodeName}, {"owners", ownersText(r)}, {"for one pod only", yesNo(extension.IsReservationAllocateOnce(r))},
		{"created", createdText(r, m.clock.Now())}, {"expires", ends},
	}, width)...)
	names, name, taken := reservationview.Resources(r), 16, 24
	for _, resource := range names {
		taken = max(taken, cell.Width(reservedAmountOf(r, resource).String())+2)
	}
	if len(names) > 0 {
		lines = append(lines, "", "  "+st.Dim.Render(cell.Left("RESOURCE", name, "")+cell.Right("TAKEN/RESERVED", taken, "")))
	}
	for _, resource := range names {
		a := reservedAmountOf(r, resource)
		lines = append(lines, "  "+st.Bold.Render(cell.Left(cell.Clean(coreamount.ShortName(resource)), name, st.Ellipsis))+
			st.Plain.Render(cell.Right(a.String(), taken, ""))+"  "+bar.Gauge(a.Allocated, max(a.Reserved, 1), max(min(width-name-taken-6, 30), 1), st.OK, st.Faint, st))
	}
	lines = append(lines, "", "  "+st.Title.Render(st.Say("pods")))
	if len(r.Status.CurrentOwners) == 0 {
		lines = append(lines, "   "+st.Dim.Render("<none>"))
	}
	for _, user := range r.Status.CurrentOwners {
		for _, line := range cell.Fold(cell.Clean(user.Namespace+"/"+user.Name), max(width-4, 20), 2) {
			lines = append(lines, "   "+st.Plain.Render(line))
		}
	}
	return lines
}
