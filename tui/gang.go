package tui

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/scheduling/gangview"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/quantity"
)

// gangAnswer is a gang, and what could not be seen of it.
type gangAnswer struct {
	*source.Gang
	incomplete []string
}

// gangScreen shows the members of a gang, and what holds it back.
func gangScreen(m *Model) *screen {
	var answer feed[gangAnswer]
	return &screen{
		name: gangName,
		doc:  "One gang: its rules, its members and their nodes, and the causes that hold it back, each once",
		commands: []command{{name: "gang", args: "NAMESPACE/NAME", help: "explain a gang", complete: (*Model).knownGangs,
			run: func(m *Model, args string) tea.Cmd { return m.commandAbout(source.KindGang, "gang", args) }}},
		keys: []action{
			bind(groupView, true, "x p", "explain member without a node", func(m *Model) tea.Cmd {
				if !answer.known {
					return nil
				}
				return m.explainMember(answer.value.Gang)
			}, "x", "p"),
			bind(groupView, true, "w", "what if", func(m *Model) tea.Cmd {
				if !answer.known {
					return nil
				}
				return m.whatIf(memberOf(answer.value.Gang))
			}, "w"),
			describeAction(), yamlAction(),
		},
		subject: &subject{kind: source.KindGang, names: m.knownGangs, describe: m.describeGang, explanation: gangExplanation},
		crumb:   func(p *page) string { return p.about.name },
		title:   func(p *page) string { return "gang " + cell.Clean(p.about.key()) },
		ask: func(p *page) tea.Cmd {
			src, about := m.source, p.about
			return ask(m, &answer, about.key(), func(ctx context.Context) (gangAnswer, error) { return askGang(ctx, src, about) })
		},
		content: func(*page) content {
			return content{feed: &answer.feedState, incomplete: answer.value.incomplete, text: func(width int) []string { return m.gangText(answer.value.Gang, width) }}
		},
	}
}

// knownGangs are the gangs that were listed last.
func (m *Model) knownGangs() []string { return m.gangNames() }

func askGang(ctx context.Context, src source.Source, about object) (gangAnswer, error) {
	all, err := askGangs(ctx, src)
	if err != nil {
		return gangAnswer{}, err
	}
	for i := range all.Items {
		if all.Items[i].Namespace == about.namespace && all.Items[i].Name == about.name {
			return gangAnswer{&all.Items[i], all.Incomplete}, nil
		}
	}
	return gangAnswer{}, finding.Wrap(fmt.Errorf("gang %q not found in namespace %q", about.name, about.namespace), finding.NotFound, "kubectl get podgroups -A")
}

func gangExplanation(ctx context.Context, src source.Source, about object) (any, []string, error) {
	a, err := askGang(ctx, src, about)
	if err != nil {
		return nil, nil, err
	}
	e := gangview.Explain(a.Gang, len(a.incomplete) > 0)
	e.TypeMeta = metav1.TypeMeta{APIVersion: diagnostics.GroupVersion.String(), Kind: "GangExplanation"}
	return e, a.incomplete, nil
}

func (m *Model) describeGang(ctx context.Context, src source.Source, about object) (detail, error) {
	a, err := askGang(ctx, src, about)
	if err != nil {
		return detail{}, err
	}
	return detail{text: func(width int) []string { return m.gangText(a.Gang, width) }, incomplete: a.incomplete}, nil
}

// gangText is the rules of a gang, what holds it back and its members.
func (m *Model) gangText(g *source.Gang, width int) []string {
	st := m.st
	state, why := stateOfGang(g)
	glyph, text := state.mark(st)
	lines := []string{m.heading(text.Render(glyph+" "+state.word()), g.Namespace+"/"+g.Name, gangBar(g, 20, st), width)}
	causes := gangview.Causes(g)
	if len(causes) == 0 {
		lines = append(lines, m.sentence(why, width)...)
	}
	for _, cause := range causes {
		lines = append(lines, m.sentence(cause.Text(), width)...)
	}
	lines = append(append(lines, ""), m.factsText(m.gangFacts(g), width)...)
	return append(lines, m.membersText(g, width)...)
}

func (m *Model) gangFacts(g *source.Gang) []fact {
	facts := []fact{{"phase", string(g.Status.Phase)}, {"members", gangview.Counts(g)}}
	if spec := g.Spec; spec != nil {
		var group []string
		for _, key := range spec.Group {
			group = append(group, key.String())
		}
		facts = append(facts, fact{"rules from", string(spec.Source)}, fact{"must run together", gangMinimum(g)}, fact{"mode", string(spec.Mode)},
			fact{"match policy", string(spec.MatchPolicy)}, fact{"members wait for", quantity.Age(spec.WaitTime)}, fact{"starts with", strings.Join(group, ", ")})
	}
	if start := gangStart(g); start != nil {
		facts = append(facts, fact{"scheduling since", quantity.AgeOf(m.clock.Now(), start.Time)})
	}
	return append(facts, fact{"occupied by", g.Status.OccupiedBy})
}

func (m *Model) membersText(g *source.Gang, width int) []string {
	if len(g.Members) == 0 {
		return nil
	}
	const phase, least = 12, 20
	st, node, name := m.st, least, 0
	for i := range g.Members {
		node, name = max(node, cell.Width(cell.Clean(g.Members[i].NodeName))+1), max(name, cell.Width(cell.Clean(g.Members[i].Name)))
	}
	// Names of pods differ in their last characters: those of the nodes give way.
	node = max(min(node, width-phase-name-4), least)
	name = max(width-phase-node-4, 10)
	lines := []string{"", "  " + st.Dim.Render(cell.Left("PHASE", phase, "")+cell.Left("NODE", node, "")+"POD")}
	for i := range g.Members {
		member := &g.Members[i]
		text := st.Plain
		if member.Waits() {
			text = st.Warn
		}
		on := member.NodeName
		if on == "" {
			on = "<pending>"
		}
		lines = append(lines, "  "+text.Render(cell.Left(cell.Clean(string(member.Phase)), phase, st.Ellipsis)+cell.Left(cell.Clean(on), node-1, st.Ellipsis)+" "+
			cell.Truncate(cell.Clean(member.Name), name, st.Ellipsis)))
	}
	return lines
}
