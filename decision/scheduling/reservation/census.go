package reservation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"koordinator.sh/koord/api/finding"
)

// Considered is one reservation whose owner a pod is.
type Considered struct {
	Name, Node string
	// Refusal by the reservation or, where it lets the pod, by the node; zero when the pod fits.
	Refusal Refusal
	// Score of the reservation for the pod when it fits.
	Score int64
}

// Census is all reservations whose owner a pod is, and what became of each.
type Census struct {
	// Entries by name.
	Entries []Considered
}

// Add records one reservation. A nil Census records nothing.
func (c *Census) Add(r *Reservation, refusal Refusal, score int64) {
	if c != nil {
		c.Entries = append(c.Entries, Considered{Name: r.Name, Node: r.Node, Refusal: refusal, Score: score})
	}
}

// Refused are the reservations that a pod cannot use for one reason.
type Refused struct {
	Code finding.Code
	// Reason in upstream's words, after a number of reservations.
	Reason string
	// Names in order.
	Names []string
}

// Refused groups the refusals, the most frequent first.
func (c *Census) Refused() []Refused {
	if c == nil {
		return nil
	}
	byReason := map[string]*Refused{}
	for _, entry := range c.Entries {
		if entry.Refusal.Passed() {
			continue
		}
		reason := entry.Refusal.Reason
		if entry.Refusal.Code == finding.ReservationNodeInsufficient {
			reason = "for node reason that " + reason
		}
		if byReason[reason] == nil {
			byReason[reason] = &Refused{Code: entry.Refusal.Code, Reason: reason}
		}
		byReason[reason].Names = append(byReason[reason].Names, entry.Name)
	}
	list := make([]Refused, 0, len(byReason))
	for _, of := range byReason {
		slices.Sort(of.Names)
		list = append(list, *of)
	}
	slices.SortFunc(list, func(a, b Refused) int {
		return cmp.Or(cmp.Compare(len(b.Names), len(a.Names)), cmp.Compare(a.Reason, b.Reason))
	})
	return list
}

// Reasons are what events say: how many reservations each reason refuses, and at the end the number of all.
func (c *Census) Reasons() []string {
	if c == nil || len(c.Entries) == 0 {
		return nil
	}
	var reasons []string
	for _, of := range c.Refused() {
		reasons = append(reasons, fmt.Sprintf("%d Reservation(s) %s", len(of.Names), of.Reason))
	}
	return append(reasons, fmt.Sprintf("%d Reservation(s) matched owner total", len(c.Entries)))
}

// phrases say refusals to people, after a number.
var phrases = map[finding.Code]string{
	finding.ReservationConsumed: "consumed", finding.ReservationNameMismatch: "with another name", finding.ReservationUnschedulable: "closed for new pods",
	finding.ReservationTainted: "tainted", finding.ReservationAffinityUnmatched: "not selected", finding.ReservationNotExact: "of another size",
	finding.ReservationInsufficient: "with too little left", finding.ReservationNodeInsufficient: "on a full node",
}

// Summary says it in one sentence: "3 reservations match the owner: 2 consumed, 1 on a full node".
func (c *Census) Summary() string {
	if c == nil || len(c.Entries) == 0 {
		return "no reservation matches the owner"
	}
	counts := map[string]int{}
	for _, entry := range c.Entries {
		phrase, known := phrases[entry.Refusal.Code]
		switch {
		case entry.Refusal.Passed():
			phrase = "usable on " + entry.Node
		case !known:
			phrase = entry.Refusal.Reason
		}
		counts[phrase]++
	}
	parts := make([]string, 0, len(counts))
	for phrase := range counts {
		parts = append(parts, phrase)
	}
	slices.SortFunc(parts, func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	for i, phrase := range parts {
		parts[i] = fmt.Sprintf("%d %s", counts[phrase], phrase)
	}
	subject := fmt.Sprintf("%d reservations match the owner", len(c.Entries))
	if len(c.Entries) == 1 {
		subject = "1 reservation matches the owner"
	}
	return subject + ": " + strings.Join(parts, ", ")
}
