package gang

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Report says where a gang and its group stand.
type Report struct {
	Key     Key
	Verdict Verdict
	// Standing of the gang itself, then of the others in its group.
	Gangs []Standing
	// Cause is the member whose refusal holds the others back; nil when none does.
	Cause *corev1.Pod
	// Fits is the number of members that had a node at best when the refused one was refused, itself not among them.
	Fits int
}

// Standing of one gang.
type Standing struct {
	Key     Key
	Known   bool
	Minimum int
	Counts
	// Refused are pending members with the reason of their latest attempt, the latest first.
	Refused []RefusedMember
	Done    bool
	Err     error
}

// RefusedMember is a member with its refusal.
type RefusedMember struct {
	Pod *corev1.Pod
	Refusal
}

// Report on a gang at a time.
func (b *Book) Report(key Key, now time.Time) Report {
	report := Report{Key: key, Verdict: b.Admit(key, "", now)}
	group := []Key{key}
	if gang := b.gangs[key]; gang != nil && gang.Spec != nil {
		group = append(group, slices.DeleteFunc(slices.Clone(gang.Spec.Group), func(other Key) bool { return other == key })...)
	}
	for _, name := range group {
		standing := b.standing(name)
		report.Gangs = append(report.Gangs, standing)
	}
	if report.Verdict.Refused != nil {
		report.Cause, report.Fits = report.Verdict.Refused.Pod, report.Verdict.Refused.Refusal.Waiting
	}
	return report
}

func (b *Book) standing(key Key) Standing {
	standing, gang := Standing{Key: key}, b.gangs[key]
	if gang == nil {
		return standing
	}
	standing.Known, standing.Counts, standing.Done = true, gang.counts, gang.done()
	if gang.Spec != nil {
		standing.Minimum, standing.Err = int(gang.Spec.MinMember), gang.Spec.Err
	}
	for _, member := range gang.Members {
		if member.Refusal != nil && !member.leaving() {
			standing.Refused = append(standing.Refused, RefusedMember{Pod: member.Pod, Refusal: *member.Refusal})
		}
	}
	slices.SortFunc(standing.Refused, func(x, y RefusedMember) int {
		if c := y.At.Compare(x.At); c != 0 {
			return c
		}
		return strings.Compare(nameOf(x.Pod), nameOf(y.Pod))
	})
	return standing
}

// Message says the report in one sentence for each gang that is not complete: "3 of 10 members placed; member a/x refused
// because ...; gang a/g2 of the group lacks 3 pods".
func (r Report) Message() string {
	var parts []string
	for i, gang := range r.Gangs {
		parts = append(parts, gang.parts(i == 0)...)
	}
	return strings.Join(parts, "; ")
}

func (s Standing) parts(own bool) []string {
	name := fmt.Sprintf("gang %s of the group", s.Key)
	if own {
		name = fmt.Sprintf("gang %s", s.Key)
	}
	switch {
	case !s.Known:
		return []string{name + " does not exist"}
	case s.Err != nil:
		return []string{fmt.Sprintf("%s cannot be read: %v", name, s.Err)}
	case s.Minimum == 0:
		return []string{name + " has no minimum number of members"}
	case s.Done:
		return nil
	case s.Children < s.Minimum:
		return []string{fmt.Sprintf("%s is missing %d pods: %d of %d exist", name, s.Minimum-s.Children, s.Children, s.Minimum)}
	}
	parts := []string{fmt.Sprintf("%s: %d of %d members placed", name, s.Placed(), s.Minimum)}
	if len(s.Refused) > 0 {
		latest := s.Refused[0]
		parts = append(parts, fmt.Sprintf("member %s was refused when %d had a node: %s", nameOf(latest.Pod), latest.Waiting, latest.Reason))
	}
	return parts
}

// Fitting is the number of members that can run, were that enough: those that had a node when one was refused, or, of a gang
// whose members were not tried because too few exist, those that exist. It is known for gangs without a group only.
func (r Report) Fitting() (int, bool) {
	if len(r.Gangs) != 1 || !r.Gangs[0].Known {
		return 0, false
	}
	gang := r.Gangs[0]
	switch {
	case r.Cause != nil:
		return gang.Bound + r.Fits, true
	case gang.Children < gang.Minimum:
		return gang.Children, true
	}
	return 0, false
}
