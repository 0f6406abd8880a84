package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/finding"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/gang"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/style"
)

// gangRow is a gang with its state.
type gangRow struct {
	*source.Gang
	state gangState
	why   string
}

func gangRows(list *source.Gangs) []gangRow {
	if list == nil {
		return nil
	}
	rows := make([]gangRow, len(list.Items))
	for i := range list.Items {
		rows[i].Gang = &list.Items[i]
		rows[i].state, rows[i].why = gangStateOf(&list.Items[i])
	}
	return rows
}

func gangKey(r *gangRow) string { return r.Namespace + "/" + r.Name }

// gangState is how a gang fares in one word, the gravest first.
type gangState int

const (
	gangInvalid gangState = iota
	gangFailed
	gangBlocked
	gangShort
	gangScheduling
	gangScheduled
	gangRunning
	gangFinished
)

func (s gangState) word() string {
	return [...]string{"Invalid", "Failed", "Blocked", "Short", "Scheduling", "Scheduled", "Running", "Finished"}[s]
}

func (s gangState) mark(st *style.Set) (string, style.Style) {
	switch s {
	case gangInvalid, gangFailed:
		return st.Cross, st.Bad
	case gangBlocked:
		return st.Hot, st.Bad
	case gangShort:
		return st.Half, st.Warn
	case gangScheduling, gangScheduled:
		return st.Good, st.Info
	case gangRunning:
		return st.Good, st.OK
	default:
		return st.Check, st.OK
	}
}

// gangProblem selects gangs for problems-only mode.
func gangProblem(r *gangRow) bool { return r.state <= gangShort }

// gangStateOf is the state of a gang, and why it is that where that has to be said.
func gangStateOf(g *source.Gang) (gangState, string) {
	switch {
	case g.Spec == nil:
		return gangInvalid, fmt.Sprintf("there is no PodGroup %s/%s that can be seen", g.Namespace, g.Name)
	case g.Spec.Err != nil:
		return gangInvalid, g.Spec.Err.Error()
	}
	switch g.Status.Phase {
	case schedulingsigsv1alpha1.PodGroupFailed:
		return gangFailed, plural(int(g.Status.Failed), "member") + " failed"
	case schedulingsigsv1alpha1.PodGroupRunning:
		return gangRunning, ""
	case schedulingsigsv1alpha1.PodGroupFinished:
		return gangFinished, ""
	case schedulingsigsv1alpha1.PodGroupScheduled:
		return gangScheduled, ""
	}
	if len(g.Members) < int(g.Spec.MinMember) {
		return gangShort, fmt.Sprintf("%d of %d members exist", len(g.Members), g.Spec.MinMember)
	}
	if causes := gangCauses(g); len(causes) > 0 {
		return gangBlocked, causes[0].text()
	}
	return gangScheduling, ""
}

// gangCause is what the scheduler says of members without a node.
type gangCause struct {
	message string
	members int
}

func (c gangCause) text() string {
	return fmt.Sprintf("%s: %s", plural(c.members, "member"), c.message)
}

// gangCauses are the refusals of the members, the most frequent first. Those that only say that another member was refused come last:
// they follow from its cause.
func gangCauses(g *source.Gang) []gangCause {
	var out []gangCause
	for i := range g.Members {
		if !memberWaits(&g.Members[i]) || g.Members[i].Refusal == "" {
			continue
		}
		message := g.Members[i].Refusal
		if at := slices.IndexFunc(out, func(c gangCause) bool { return c.message == message }); at >= 0 {
			out[at].members++
			continue
		}
		out = append(out, gangCause{message: message, members: 1})
	}
	consequence := func(c gangCause) int {
		_, reason, found := strings.Cut(c.message, " nodes are available: ")
		if !found {
			reason = c.message
		}
		if gang.CodeOf(reason) == finding.GangMemberRefused {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(out, func(a, b gangCause) int { return cmp.Or(consequence(a)-consequence(b), b.members-a.members) })
	return out
}

// memberWaits reports whether a member has no node yet.
func memberWaits(m *source.GangMember) bool {
	return m.NodeName == "" && m.Phase == corev1.PodPending
}
