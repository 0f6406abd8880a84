package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/cell"
)

// migration explains one PodMigrationJob.
type migration struct {
	*Model
	explanation feed[*diagnostics.MigrationExplanation]
}

// migrationScreen shows a job gate by gate, with the clocks of the gates.
func migrationScreen(m *Model) *screen {
	d := &migration{Model: m}
	return &screen{
		name: migrationName,
		doc:  "One PodMigrationJob: its gates with their clocks, what it waits for, and what koord-descheduler does next",
		commands: []command{{name: "migration", args: "NAME", help: "explain how far a PodMigrationJob is", complete: (*Model).migrations,
			run: func(m *Model, args string) tea.Cmd { return m.commandAbout(source.KindMigration, "migration", args) }}},
		keys: []action{
			bind(groupView, true, "enter", "expand", func(m *Model) tea.Cmd {
				m.page().unfolded = !m.page().unfolded
				return nil
			}, "enter"),
			bind(groupView, true, "x p", "explain pod", d.jump(migratedPod), "x", "p"),
			bind(groupView, true, "n", "node", d.jump(migrationSource), "n"),
			bind(groupView, true, "t", "target node", d.jump(migrationTarget), "t"),
			describeAction(), yamlAction(),
		},
		subject: &subject{kind: source.KindMigration, names: m.migrations, describe: m.describeMigration, explanation: explanationOfMigration},
		crumb:   func(p *page) string { return p.about.name },
		title:   func(p *page) string { return "migration " + cell.Clean(p.about.name) },
		ask: func(p *page) tea.Cmd {
			src, about := m.source, p.about
			return ask(m, &d.explanation, about.name, func(ctx context.Context) (*diagnostics.MigrationExplanation, error) {
				return explainMigration(ctx, src, about)
			})
		},
		content: func(*page) content {
			c := content{feed: &d.explanation.feedState, text: d.migrationText}
			if d.explanation.known {
				c.incomplete = d.explanation.value.Incomplete
			}
			return c
		},
	}
}

// migrations are the names of the jobs that were listed last.
func (m *Model) migrations() []string { return m.migrationNames() }

// commandAbout opens the screen that explains objects of a kind, about the one that a command names.
func (m *Model) commandAbout(kind source.Kind, command, args string) tea.Cmd {
	if args == "" {
		name := "NAME"
		if kind.Namespaced {
			name = "NAMESPACE/NAME"
		}
		return m.say("name required: :"+command+" "+name, true)
	}
	return m.explain(m.objectCalled(kind, args))
}

func explainMigration(ctx context.Context, src source.Source, about object) (*diagnostics.MigrationExplanation, error) {
	explainer, err := offered[source.MigrationExplainer](src, "explain PodMigrationJobs")
	if err != nil {
		return nil, err
	}
	return explainer.ExplainMigration(ctx, about.name)
}

func explanationOfMigration(ctx context.Context, src source.Source, about object) (any, []string, error) {
	e, err := explainMigration(ctx, src, about)
	if err != nil {
		return nil, nil, err
	}
	e = e.DeepCopy()
	e.TypeMeta = metav1.TypeMeta{APIVersion: diagnostics.GroupVersion.String(), Kind: "MigrationExplanation"}
	return e, e.Incomplete, nil
}

func (m *Model) describeMigration(ctx context.Context, src source.Source, about object) (detail, error) {
	e, err := explainMigration(ctx, src, about)
	if err != nil {
		return detail{}, err
	}
	return detail{text: func(width int) []string { return m.migrationDetail(e, width) }, incomplete: e.Incomplete}, nil
}

// jump explains what the job is about.
func (d *migration) jump(to func(*diagnostics.MigrationExplanation) object) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if !d.explanation.known {
			return nil
		}
		return m.explainKnown(to(d.explanation.value))
	}
}
