package recorder

import (
	"cmp"
	"fmt"
	"slices"
)

// Differences says what changed between two attempts for one pod, one sentence each, what changed for most nodes first.
func Differences(before, after Attempt) []string {
	type reason struct{ plugin, text string }
	counts := map[reason][2]int32{}
	for i, attempt := range []Attempt{before, after} {
		for _, refusal := range attempt.Refusals {
			of := reason{refusal.Plugin, refusal.Reason}
			both := counts[of]
			both[i] += refusal.Nodes
			counts[of] = both
		}
	}
	type change struct {
		size int32
		text string
	}
	var changes []change
	for of, both := range counts {
		if both[0] != both[1] {
			size := max(both[0]-both[1], both[1]-both[0])
			changes = append(changes, change{size, fmt.Sprintf("%s: %s: %d -> %d nodes", of.plugin, of.text, both[0], both[1])})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.text, b.text)) })
	var sentences []string
	if before.Outcome != after.Outcome {
		sentences = append(sentences, fmt.Sprintf("%s -> %s", before.Outcome, after.Outcome))
	}
	if before.Node != "" && after.Node != "" && before.Node != after.Node {
		sentences = append(sentences, fmt.Sprintf("node %s -> %s", before.Node, after.Node))
	}
	for _, one := range changes {
		sentences = append(sentences, one.text)
	}
	return sentences
}
