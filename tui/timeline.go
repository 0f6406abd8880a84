package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/cell"
)

// timeline tells what happened to one object.
type timeline struct {
	*Model
	answer feed[*timelineAnswer]
}

// timelineAnswer is what timelines of pods and of other objects have in common.
type timelineAnswer struct {
	Entries           []diagnostics.TimelineEntry
	Notes, Incomplete []string
}

// timelineScreen tells what happened to an object, in the order in which one causes the next.
func timelineScreen(m *Model) *screen {
	d := &timeline{Model: m}
	return &screen{
		name: timelineName,
		doc:  "What happened to one object, in the order of cause: its events and what it tells itself; of a pod also its migrations, and what the agent of its node did",
		commands: []command{{name: "events", aliases: []string{"timeline"}, args: "NAMESPACE/POD", help: "tell what happened: also KIND NAME",
			complete: (*Model).objectNames, run: (*Model).commandEvents}},
		keys: []action{
			bind(groupView, true, "enter", "expand", func(m *Model) tea.Cmd {
				m.page().unfolded = !m.page().unfolded
				return nil
			}, "enter"),
			bind(groupView, true, "x", "explain", (*Model).explainSelected, "x"),
			describeAction(), yamlAction(),
		},
		crumb: func(p *page) string { return "events " + timelineOf(p.about) },
		title: func(p *page) string { return "events " + cell.Clean(timelineOf(p.about)) },
		ask: func(p *page) tea.Cmd {
			src, about := m.source, p.about
			return ask(m, &d.answer, about.String(), func(ctx context.Context) (*timelineAnswer, error) { return askTimeline(ctx, src, about) })
		},
		content: func(*page) content {
			c := content{feed: &d.answer.feedState, text: d.timelineText}
			if d.answer.known {
				c.incomplete = d.answer.value.Incomplete
			}
			return c
		},
	}
}

// timelineOf names an object: a pod by its name alone.
func timelineOf(about object) string {
	if about.kind == source.KindPod {
		return about.key()
	}
	return about.String()
}

// eventsAction tells what happened to the object under the cursor, or to the one that the page is about.
func eventsAction() action {
	return bind(groupView, true, "e", "events", openDetail(timelineName), "e")
}

func askTimeline(ctx context.Context, src source.Source, about object) (*timelineAnswer, error) {
	if about.kind != source.KindPod {
		reader, err := offered[source.ObjectTimelineReader](src, "tell what happened to "+about.kind.Many())
		if err != nil {
			return nil, err
		}
		kind, name := about.served()
		t, err := reader.ObjectTimeline(ctx, kind, about.namespace, name)
		if err != nil {
			return nil, err
		}
		return &timelineAnswer{Entries: t.Entries, Notes: t.Notes, Incomplete: t.Incomplete}, nil
	}
	reader, err := offered[source.TimelineReader](src, "tell what happened to pods")
	if err != nil {
		return nil, err
	}
	t, err := reader.PodTimeline(ctx, about.namespace, about.name)
	if err != nil {
		return nil, err
	}
	return &timelineAnswer{Entries: t.Entries, Notes: t.Notes, Incomplete: t.Incomplete}, nil
}

// commandEvents opens the timeline of the object that it names, which is a pod where it names no kind, or of the one that the key would open it
// of.
func (m *Model) commandEvents(args string) tea.Cmd {
	about := m.objectCalled(source.KindPod, args)
	if kind, name, two := strings.Cut(args, " "); two {
		about = m.objectOfKind(kind, strings.TrimSpace(name))
	}
	if args == "" {
		about, _ = m.selected()
	}
	if about.name == "" || m.explainerOf(about.kind) == nil {
		return m.say("name required: :events NAMESPACE/POD or KIND NAME", true)
	}
	return m.open(timelineName, about)
}
