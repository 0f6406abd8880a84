package explain

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// summarised bounds the groups that a summary names.
const summarised = 4

// summarise says in one sentence what refuses the nodes: "0/30 nodes: 22 lack batch-cpu (...), 5 untolerated taint ...".
func summarise(feasible, total int, groups []*group) string {
	if total == 0 {
		return "0/0 nodes: the cluster has no nodes"
	}
	phrases := make([]string, 0, summarised+1)
	for i, g := range groups {
		if i == summarised {
			phrases = append(phrases, fmt.Sprintf("%d more reasons", len(groups)-summarised))
			break
		}
		phrases = append(phrases, fmt.Sprintf("%d %s", len(g.members), g.phrase()))
	}
	sentence := fmt.Sprintf("%d/%d nodes", feasible, total)
	if chosen := beyondChoice(groups); chosen != nil && feasible == 0 {
		top := headline(groups)
		_, refused := top.among(chosen)
		return fmt.Sprintf("%s: of the %d that the pod itself chose, %d %s", sentence, len(chosen), refused, top.phrase())
	}
	if len(phrases) > 0 {
		sentence += ": " + strings.Join(phrases, ", ")
	}
	return sentence
}

// phrase says what is wrong with the nodes of a group, after their number. Texts of plugins begin with "node(s)".
func (g *group) phrase() string {
	phrase := strings.TrimSpace(strings.TrimPrefix(g.closest().subject.phrase, "node(s) "))
	const longest = 120
	if utf8.RuneCountInString(phrase) > longest {
		return string([]rune(phrase)[:longest-1]) + "…"
	}
	return phrase
}
