package gangview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/phrase"
	"koordinator.sh/koord/decision/scheduling/gang"
)

// Cause is what the scheduler says of members without a node.
type Cause struct {
	Message string
	Members int
	// Follows is true where the message only says that another member was refused.
	Follows bool
}

// Text is the cause in a sentence.
func (c Cause) Text() string { return phrase.Counted(c.Members, "member") + ": " + c.Message }

// Causes are the refusals of the members, the most frequent first. Those that only say that another member was refused come last: they
// follow from its cause.
func Causes(g *Gang) []Cause {
	var out []Cause
	for i := range g.Members {
		message := g.Members[i].Refusal
		if !g.Members[i].Waits() || message == "" {
			continue
		}
		if at := slices.IndexFunc(out, func(c Cause) bool { return c.Message == message }); at >= 0 {
			out[at].Members++
			continue
		}
		out = append(out, Cause{Message: message, Members: 1, Follows: follows(message)})
	}
	rank := func(c Cause) int {
		if c.Follows {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(out, func(a, b Cause) int { return cmp.Or(rank(a)-rank(b), b.Members-a.Members) })
	return out
}

// follows is true for a message that only says that another member was refused.
func follows(message string) bool {
	_, reason, found := strings.Cut(message, " nodes are available: ")
	if !found {
		reason = message
	}
	return gang.CodeOf(reason) == finding.GangMemberRefused
}

// Counts says how many members there are, in words.
func Counts(g *Gang) string {
	return fmt.Sprintf("%s, %d with a node, %d running, %d succeeded, %d failed", phrase.Counted(len(g.Members), "member"), g.Status.Scheduled, g.Status.Running, g.Status.Succeeded, g.Status.Failed)
}
