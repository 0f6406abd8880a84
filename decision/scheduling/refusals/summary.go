package refusals

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

// Summarise says in one sentence what refuses the nodes, as kube-scheduler does: "0/30 nodes are available: 29 node(s) didn't match
// Pod's node affinity/selector (pool=gpu), 1 node(s) cpu usage above 65%.".
func Summarise(feasible, total int, groups []*Group) string {
	if total == 0 {
		return "0/0 nodes are available: no nodes available to schedule pods."
	}
	clauses := clausesOf(feasible, total, groups)
	if len(clauses) == 0 {
		return fmt.Sprintf("%d/%d nodes are available.", feasible, total)
	}
	return fmt.Sprintf("%d/%d nodes are available: %s.", feasible, total, strings.Join(clauses, ", "))
}

func clausesOf(feasible, total int, groups []*Group) []string {
	if chosen := beyondChoice(groups); chosen != nil && feasible == 0 {
		top := Headline(groups)
		_, refused := top.among(chosen)
		return []string{unchosen(groups, total-len(chosen)), top.clause(refused)}
	}
	var clauses []string
	for i, g := range groups {
		if i == summarised {
			return append(clauses, fmt.Sprintf("%d more reasons", len(groups)-summarised))
		}
		clauses = append(clauses, g.clause(len(g.Members)))
	}
	return clauses
}

// unchosen is the clause of the nodes that the pod itself excludes.
func unchosen(groups []*Group, nodes int) string {
	excluding := slices.DeleteFunc(slices.Clone(groups), func(g *Group) bool { return !excludes(g.Code()) })
	if len(excluding) == 1 {
		return excluding[0].clause(nodes)
	}
	return fmt.Sprintf("%d node(s) didn't match Pod's node affinity/selector", nodes)
}

// clause says what is wrong with some nodes of a group. What refuses the pod whatever the node has no number of nodes.
func (g *Group) clause(nodes int) string {
	closest := g.closest()
	phrase := strings.TrimSuffix(strings.TrimSpace(closest.Phrase), ".")
	if utf8.RuneCountInString(phrase) > longestPhrase {
		phrase = string([]rune(phrase)[:longestPhrase-1]) + "…"
	}
	switch {
	case closest.Everywhere:
		return phrase
	case strings.HasPrefix(closest.Phrase, closest.Reason):
		return fmt.Sprintf("%d %s", nodes, phrase)
	}
	return fmt.Sprintf("%d node(s) %s", nodes, phrase)
}
