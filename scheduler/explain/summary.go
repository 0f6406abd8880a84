package explain

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// summarised bounds the groups that a summary names.
	summarised = 4
	// longestPhrase bounds what a summary says of one group, in characters.
	longestPhrase = 120
)

// summarise says in one sentence what refuses the nodes, as kube-scheduler does: "0/30 nodes are available: 22 node(s) had
// insufficient batch-cpu (...), 5 node(s) had untolerated taint ...".
func summarise(feasible, total int, groups []*group) string {
	if total == 0 {
		return "0/0 nodes are available: the cluster has no nodes"
	}
	sentence := fmt.Sprintf("%d/%d nodes are available", feasible, total)
	if chosen := beyondChoice(groups); chosen != nil && feasible == 0 {
		top := headline(groups)
		_, refused := top.among(chosen)
		return sentence + ": " + unchosen(groups, total-len(chosen)) + ", " + top.clause(refused)
	}
	clauses := make([]string, 0, summarised+1)
	for i, g := range groups {
		if i == summarised {
			clauses = append(clauses, fmt.Sprintf("%d more reasons", len(groups)-summarised))
			break
		}
		clauses = append(clauses, g.clause(len(g.members)))
	}
	if len(clauses) > 0 {
		sentence += ": " + strings.Join(clauses, ", ")
	}
	return sentence
}

// unchosen is the clause of the nodes that the pod itself excludes.
func unchosen(groups []*group, nodes int) string {
	excluding := slices.DeleteFunc(slices.Clone(groups), func(g *group) bool { return !excludes(g.code) })
	if len(excluding) == 1 {
		return excluding[0].clause(nodes)
	}
	return fmt.Sprintf("%d node(s) didn't match what the pod selects", nodes)
}

// clause says what is wrong with some nodes of a group. What PreFilter refuses is about the pod and has no number of nodes; the
// texts of other schedulers' plugins stay as they are.
func (g *group) clause(nodes int) string {
	phrase := strings.TrimSpace(g.closest().subject.Phrase)
	if utf8.RuneCountInString(phrase) > longestPhrase {
		phrase = string([]rune(phrase)[:longestPhrase-1]) + "…"
	}
	switch {
	case g.everywhere:
		return phrase
	case g.closest().subject.Phrase == g.reason:
		return fmt.Sprintf("%d %s", nodes, phrase)
	}
	return fmt.Sprintf("%d node(s) %s", nodes, phrase)
}
