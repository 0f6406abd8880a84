package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/cell"
)

// timeline tells what happened to one pod.
type timeline struct {
	*Model
	answer feed[*diagnostics.PodTimeline]
}

// timelineScreen tells what happened to a pod, in the order in which one causes the next.
func timelineScreen(m *Model) *screen {
	d := &timeline{Model: m}
	return &screen{
		name: timelineName,
		doc:  "What happened to one pod, in the order of cause: its events, what its object tells, its migrations, and what the agent of its node did",
		commands: []command{{name: "events", aliases: []string{"timeline"}, args: "NAMESPACE/POD", help: "show what happened to a pod", complete: (*Model).podNames,
			run: (*Model).commandEvents}},
		keys: []action{
			bind(groupView, true, "enter", "expand", func(m *Model) tea.Cmd {
				m.page().unfolded = !m.page().unfolded
				return nil
			}, "enter"),
			bind(groupView, true, "x", "explain pod", (*Model).explainSelected, "x"),
			describeAction(), yamlAction(),
		},
		crumb: func(p *page) string { return "events " + p.about.key() },
		title: func(p *page) string { return "events " + cell.Clean(p.about.key()) },
		ask: func(p *page) tea.Cmd {
			src, about := m.source, p.about
			return ask(m, &d.answer, about.key(), func(ctx context.Context) (*diagnostics.PodTimeline, error) { return askTimeline(ctx, src, about) })
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

// eventsAction tells what happened to the pod under the cursor, or to the one that the page is about.
func eventsAction() action {
	return bind(groupView, true, "e", "events", openDetail(timelineName), "e")
}

func askTimeline(ctx context.Context, src source.Source, about object) (*diagnostics.PodTimeline, error) {
	reader, err := offered[source.TimelineReader](src, "tell what happened to pods")
	if err != nil {
		return nil, err
	}
	return reader.PodTimeline(ctx, about.namespace, about.name)
}

// commandEvents opens the timeline of the pod that it names, or of the one that the key would open it of.
func (m *Model) commandEvents(args string) tea.Cmd {
	about := m.objectCalled(source.KindPod, strings.TrimSpace(strings.TrimPrefix(args, "pod ")))
	if args == "" {
		about, _ = m.selected()
	}
	if about.kind != source.KindPod || about.name == "" {
		return m.say("pod name required: :events NAMESPACE/POD", true)
	}
	return m.open(timelineName, about)
}
