package printer

import (
	"fmt"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/phrase"
)

// gangTreeColumns of `tree gang`. They fit 80 columns without the network and the reason.
var gangTreeColumns = []column{
	{header: "NAME", flexible: 24},
	{header: "STATE"},
	{header: "NEEDED", right: true, drop: 1},
	{header: "PODS", right: true},
	{header: "BOUND", right: true},
	{header: "RUN", right: true},
	{header: "NODE", flexible: 10, drop: 2},
	{header: "NETWORK", flexible: 12, drop: 4},
	{header: "REASON", flexible: 24, drop: 3, says: true},
}

// gangTree is a tree of gangs that is drawn.
type gangTree struct {
	table
	style Style
}

// GangTree prints gangs with their pods, those that start together below a line for their group.
func GangTree(w io.Writer, list *diagnosticsv1alpha1.GangExplanationList, o Options) error {
	t := &gangTree{table: table{columns: gangTreeColumns}, style: o.Style}
	for first := 0; first < len(list.Items); {
		end := first + 1
		for end < len(list.Items) && slices.Equal(groupOf(&list.Items[end]), groupOf(&list.Items[first])) {
			end++
		}
		t.group(list.Items[first:end])
		first = end
	}
	hidden, err := t.render(w, o)
	if err != nil {
		return err
	}
	return hiddenNote(w, hidden, o)
}

// groupOf are the gangs that start together with one; itself alone where it has no rules.
func groupOf(g *diagnosticsv1alpha1.GangExplanation) []string {
	if g.Rules == nil || len(g.Rules.Group) == 0 {
		return []string{g.Namespace + "/" + g.Name}
	}
	return g.Rules.Group
}

// group draws gangs that start together. One that starts alone has no line for the group.
func (t *gangTree) group(gangs []diagnosticsv1alpha1.GangExplanation) {
	names := groupOf(&gangs[0])
	if len(names) < 2 {
		for i := range gangs {
			t.gang(&gangs[i], "", "")
		}
		return
	}
	t.add(painted(Strong, fmt.Sprintf("%s that start together", phrase.Counted(len(names), "gang"))), text(""), text(""), text(""), text(""), text(""), text(""), text(""), text(""))
	for i, name := range names {
		last := i == len(names)-1
		at := slices.IndexFunc(gangs, func(g diagnosticsv1alpha1.GangExplanation) bool { return g.Namespace+"/"+g.Name == name })
		if at < 0 {
			t.row(t.style.Branch(last), name, painted(Bad, "Missing"), [7]cell{6: painted(Dim, "the group names it, and it does not exist or cannot be seen")})
			continue
		}
		t.gang(&gangs[at], t.style.Branch(last), t.style.Stem(last))
	}
}

// gang draws a gang and its pods; lead stands before its name, and stem before the lines below it.
func (t *gangTree) gang(g *diagnosticsv1alpha1.GangExplanation, lead, stem string) {
	c := &g.Counts
	reason, role := g.Summary, gangRole(g.State)
	if role == Good {
		reason = "" // it repeats the counts
	}
	t.row(lead, g.Namespace+"/"+g.Name, painted(role, string(g.State)), [7]cell{
		text(gangNeeded(g)), text(fmt.Sprint(c.Created)), text(fmt.Sprint(c.Bound)), text(fmt.Sprint(c.Running + c.Succeeded)), text(""),
		text(networkText(g.Rules)), painted(Dim, reason),
	})
	for i := range g.Members {
		m := &g.Members[i]
		role = Plain
		if m.NodeName == "" && m.Phase == string(corev1.PodPending) {
			role = Warn
		}
		t.row(stem+t.style.Branch(i == len(g.Members)-1), m.Name, painted(role, m.Phase), [7]cell{4: text(orNone(m.NodeName)), 6: painted(Dim, m.Refusal)})
	}
}

// row adds a name below a lead, a state and the cells of the other columns.
func (t *gangTree) row(lead, name string, state cell, others [7]cell) {
	t.add(append([]cell{styled(t.style.Paint(Dim, lead) + t.style.Clean(name)), state}, others[:]...)...)
}

// networkText is how close in the network the members must be: "MustGather spine, PreferGather block".
func networkText(rules *diagnosticsv1alpha1.GangRules) string {
	if rules == nil {
		return ""
	}
	var texts []string
	for _, rule := range rules.NetworkTopology {
		texts = append(texts, rule.Strategy+" "+rule.Layer)
	}
	return strings.Join(texts, ", ")
}
