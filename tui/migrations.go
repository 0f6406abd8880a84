package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source"
)

// migrations lists the PodMigrationJobs.
type migrations struct {
	list[*source.Migrations, migrationRow]
}

// migrationsScreen lists the PodMigrationJobs, live, each at its gate.
func migrationsScreen(m *Model) *screen {
	l := &migrations{}
	l.table, l.rows, l.reason = newMigrationTable(m.clock.Now), migrationRows, migrationReason
	l.incomplete = func(a *source.Migrations) []string { return a.Incomplete }
	l.object = func(r *migrationRow) object { return migrationObject(r.Name) }
	l.empty = func() (string, []string) {
		return "no PodMigrationJobs in this cluster", []string{
			"koord-descheduler creates one for each pod that it moves", ":forecast says what it would move next, and why",
		}
	}
	m.migrationNames = func() []string {
		var out []string
		for _, r := range l.table.Rows() {
			out = append(out, r.Name)
		}
		return out
	}
	return &screen{
		name: migrationsName,
		doc:  "The PodMigrationJobs: which pods are being moved, from where to where, the gate that each is at, and until when",
		commands: []command{{name: "migrations", aliases: []string{"pmj", "podmigrationjobs"}, args: "[/FILTER]", help: "list PodMigrationJobs",
			run: commandList(migrationsName)}},
		keys: []action{
			bind(groupView, true, "enter", "explain", (*Model).explainSelected, "enter", "x"),
			bind(groupView, true, "p", "pod", l.jump(migratedPod), "p"),
			bind(groupView, true, "n", "node", l.jump(migrationSource), "n"),
			bind(groupView, true, "t", "target node", l.jump(migrationTarget), "t"),
			bind(groupView, true, "f", "forecast", func(m *Model) tea.Cmd { return m.open(forecastName, object{}) }, "f"),
			describeAction(), yamlAction(),
			sortAction("P", "POD", false),
			sortAction("N", "NAME", false),
			sortAction("S", "STATE", true),
			sortAction("F", "FROM", false),
			sortAction("T", "TO", false),
			sortAction("L", "LEFT", false),
		},
		summary: true,
		ask: func(*page) tea.Cmd {
			src := m.source
			return l.list.ask(m, "migrations", func(ctx context.Context) (*source.Migrations, error) { return askMigrations(ctx, src) })
		},
		content: func(*page) content { return l.list.content() },
	}
}

func migrationObject(name string) object { return object{kind: source.KindMigration, name: name} }

func askMigrations(ctx context.Context, src source.Source) (*source.Migrations, error) {
	lister, err := offered[source.MigrationLister](src, "list PodMigrationJobs")
	if err != nil {
		return nil, err
	}
	return lister.Migrations(ctx)
}

// jump explains what the row under the cursor is about.
func (l *migrations) jump(to func(*diagnostics.MigrationExplanation) object) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		row := l.table.Selected()
		if row == nil {
			return nil
		}
		return m.explainKnown(to(row.MigrationExplanation))
	}
}

// explainKnown explains an object; one without a name is not known.
func (m *Model) explainKnown(about object) tea.Cmd {
	if about.name == "" {
		return m.say("the "+about.kind.Name+" is not known", false)
	}
	return m.explain(about)
}

// The objects of a job.
func migratedPod(e *diagnostics.MigrationExplanation) object {
	return podObject(e.Pod.Namespace, e.Pod.Name)
}
func migrationSource(e *diagnostics.MigrationExplanation) object { return nodeObject(e.Pod.NodeName) }
func migrationTarget(e *diagnostics.MigrationExplanation) object { return nodeObject(e.TargetNode) }
