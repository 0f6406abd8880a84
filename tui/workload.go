package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/cell"
)

// workloadScreen explains one workload: which pods it lacks and why, and what the others use.
func workloadScreen(m *Model) *screen {
	var answer feed[*diagnostics.WorkloadExplanation]
	return &screen{
		name: workloadName,
		doc:  "One Deployment, StatefulSet, ReplicaSet or DaemonSet: which pods it lacks and why, and what the others request, use and leave idle",
		commands: []command{{name: workloadName, args: "NAMESPACE/KIND/NAME", help: "explain a workload", complete: (*Model).knownWorkloads,
			run: (*Model).commandWorkload}},
		keys: []action{
			bind(groupView, true, "x", "explain pod", func(m *Model) tea.Cmd {
				if !answer.known {
					return nil
				}
				return m.explainKnown(podObject(answer.value.Namespace, answer.value.WaitingPod))
			}, "x"),
			bind(groupView, true, "p", "pods", func(m *Model) tea.Cmd {
				about := m.page().about
				return m.openRows(podsName, podsOfWorkload(about.namespace, about.name))
			}, "p"),
			eventsAction(), describeAction(), yamlAction(),
		},
		subject: &subject{kind: source.KindWorkload, names: m.knownWorkloads, describe: m.describeWorkload, explanation: explanationOfWorkload},
		crumb:   func(p *page) string { return p.about.name },
		title:   func(p *page) string { return "workload " + cell.Clean(p.about.key()) },
		ask: func(p *page) tea.Cmd {
			src, about := m.source, p.about
			return ask(m, &answer, about.key(), func(ctx context.Context) (*diagnostics.WorkloadExplanation, error) {
				return explainWorkload(ctx, src, about)
			})
		},
		content: func(*page) content {
			c := content{feed: &answer.feedState, text: func(width int) []string { return m.workloadText(answer.value, width) }}
			if answer.known {
				c.incomplete = answer.value.Incomplete
			}
			return c
		},
	}
}

func (m *Model) commandWorkload(args string) tea.Cmd {
	if args == "" {
		return m.say("name required: :workload NAMESPACE/KIND/NAME", true)
	}
	return m.explain(m.objectCalled(source.KindWorkload, args))
}

// knownWorkloads are those that were listed last and that can be explained.
func (m *Model) knownWorkloads() []string {
	return slices.DeleteFunc(m.workloadNames(), func(key string) bool {
		namespace, name, _ := strings.Cut(key, "/")
		return rowObject(namespace, name).kind != source.KindWorkload
	})
}

// otherWorkload is the kind of workloads that no screen explains, such as Jobs.
var otherWorkload = source.Kind{Name: source.KindWorkload.Name, Namespaced: true}

// rowObject is what a row of the workloads is about.
func rowObject(namespace, workload string) object {
	about := workloadObject(namespace, workload)
	if kind, _ := about.served(); kind == source.KindWorkload {
		about.kind = otherWorkload
	}
	return about
}

// served is the kind by which the API server has an object, and its name there: a workload has its kind in its name, as deployment/web. It
// is the pseudo kind itself for a workload of a kind that is not explained.
func (o object) served() (source.Kind, string) {
	if o.kind != source.KindWorkload {
		return o.kind, o.name
	}
	word, name, _ := strings.Cut(o.name, "/")
	for _, kind := range source.ExplainedWorkloads {
		if slices.Contains(kind.Words(), word) {
			return kind, name
		}
	}
	return o.kind, o.name
}

// shown is the object by which a page is about one that the API server has.
func (o object) shown() object {
	if slices.Contains(source.ExplainedWorkloads, o.kind) {
		return workloadObject(o.namespace, o.kind.Name+"/"+o.name)
	}
	return o
}

func explainWorkload(ctx context.Context, src source.Source, about object) (*diagnostics.WorkloadExplanation, error) {
	explainer, err := offered[source.WorkloadExplainer](src, "explain workloads")
	if err != nil {
		return nil, err
	}
	kind, name := about.served()
	if kind == source.KindWorkload {
		word, _, _ := strings.Cut(about.name, "/")
		return nil, fmt.Errorf("explain a %s: not a workload that is explained; p lists its pods", word)
	}
	return explainer.ExplainWorkload(ctx, kind, about.namespace, name)
}

func explanationOfWorkload(ctx context.Context, src source.Source, about object) (any, []string, error) {
	e, err := explainWorkload(ctx, src, about)
	if err != nil {
		return nil, nil, err
	}
	return e, e.Incomplete, nil
}

func (m *Model) describeWorkload(ctx context.Context, src source.Source, about object) (detail, error) {
	e, err := explainWorkload(ctx, src, about)
	if err != nil {
		return detail{}, err
	}
	return detail{text: func(width int) []string { return m.workloadText(e, width) }, incomplete: e.Incomplete}, nil
}

// workloadText is what explain prints of a workload.
func (m *Model) workloadText(e *diagnostics.WorkloadExplanation, width int) []string {
	return m.printed(width, func(b *strings.Builder, o printer.Options) error { return printer.WorkloadExplanation(b, e, o) })
}
