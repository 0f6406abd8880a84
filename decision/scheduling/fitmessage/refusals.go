package fitmessage

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Refusal is why a number of nodes does not take a pod.
type Refusal struct {
	Nodes  int
	Reason string
}

// Refusals reads a message, in its order, without what preemption adds to it; nil for any other message.
func Refusals(message string) []Refusal {
	head, list, found := strings.Cut(strings.TrimSuffix(withoutPostFilter(message), "."), " nodes are available: ")
	if !found || strings.ContainsRune(head, ' ') {
		return nil
	}
	var out []Refusal
	for part := range strings.SplitSeq(list, ", ") {
		count, reason, _ := strings.Cut(part, " ")
		switch nodes, err := strconv.Atoi(count); {
		case err == nil && reason != "":
			out = append(out, Refusal{Nodes: nodes, Reason: reason})
		case len(out) == 0:
			return nil
		default: // a comma within a reason
			out[len(out)-1].Reason += ", " + part
		}
	}
	return out
}

// withoutPostFilter is a message without the sentence that the PostFilter plugins add, in which preemption counts nodes in the same form.
func withoutPostFilter(message string) string {
	before, _, preempts := strings.Cut(message, "preemption: ")
	if !preempts {
		return message
	}
	if end := strings.LastIndex(before, ". "); end >= 0 {
		before = before[:end]
	}
	return before
}

// Change is a reason for which another number of nodes refuses a pod than before.
type Change struct {
	Reason        string
	Before, After int
}

// Changes compares two messages, ordered by reason; nil unless both can be read.
func Changes(before, after string) []Change {
	was, is := Refusals(before), Refusals(after)
	if was == nil || is == nil {
		return nil
	}
	byReason := map[string]*Change{}
	of := func(reason string) *Change {
		if byReason[reason] == nil {
			byReason[reason] = &Change{Reason: reason}
		}
		return byReason[reason]
	}
	for _, refusal := range was {
		of(refusal.Reason).Before += refusal.Nodes
	}
	for _, refusal := range is {
		of(refusal.Reason).After += refusal.Nodes
	}
	var out []Change
	for _, change := range byReason {
		if change.Before != change.After {
			out = append(out, *change)
		}
	}
	slices.SortFunc(out, func(a, b Change) int { return cmp.Compare(a.Reason, b.Reason) })
	return out
}
