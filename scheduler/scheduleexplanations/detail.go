package scheduleexplanations

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

const (
	// maxNodeNames bounds the node names in one status, which is about half of what etcd takes in one object.
	maxNodeNames = 5000
	// maxDomains bounds the topology domains in one status.
	maxDomains = 64
)

// detail is the answer for one region.
func (f Findings) detail(in region) schedulingv1alpha1.ExplanationDetail {
	detail := schedulingv1alpha1.ExplanationDetail{
		TopologyDomain: in.name, Schedulable: everyAnswer(f, in, Answer.schedulable),
		ScheduleExplanation: &schedulingv1alpha1.SchedulingResult{FeasibleSchedulingResult: f.placed(in)},
	}
	for _, answer := range f.Answers {
		if answer.Status.Verdict == diagnosticsv1alpha1.PodBound {
			continue
		}
		for _, group := range answer.groups(in, func(diagnosticsv1alpha1.RefusalGroup) bool { return true }) {
			detail.ScheduleExplanation.NodeFailedDetails = merge(detail.ScheduleExplanation.NodeFailedDetails, group)
		}
	}
	detail.FailedMessage = f.messageIn(in, detail.Schedulable)
	detail.ScheduleExplanation.Schedulable, detail.ScheduleExplanation.FailedMessage = detail.Schedulable, detail.FailedMessage
	if !detail.Schedulable {
		f.preempt(in, &detail)
	}
	return detail
}

// placed lists the pods that have a node in the region, and for each kind of pods that would find one, the best.
func (f Findings) placed(in region) []schedulingv1alpha1.PodSchedulingResult {
	var placed []schedulingv1alpha1.PodSchedulingResult
	for _, pod := range f.Settled {
		if pod.Spec.NodeName != "" && in.has(pod.Spec.NodeName) {
			placed = append(placed, schedulingv1alpha1.PodSchedulingResult{NamespacedPod: nameOf(pod), NodeName: pod.Spec.NodeName})
		}
	}
	for _, answer := range f.Answers {
		if at := slices.IndexFunc(answer.places(), in.has); at >= 0 && answer.schedulable(in) {
			placed = append(placed, schedulingv1alpha1.PodSchedulingResult{NamespacedPod: nameOf(answer.Pods[0]), NodeName: answer.place(answer.places()[at])})
		}
	}
	return placed
}

func nameOf(pod *corev1.Pod) schedulingv1alpha1.NamespacedPod {
	return schedulingv1alpha1.NamespacedPod{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}
}

// messageIn is the message for a region; that for the whole cluster is the status' own.
func (f Findings) messageIn(in region, schedulable bool) string {
	if in.nodes == nil {
		return f.message()
	}
	if schedulable {
		return ""
	}
	var parts []string
	for _, answer := range f.Answers {
		if answer.schedulable(in) {
			continue
		}
		var reasons []string
		for _, group := range answer.groups(in, func(diagnosticsv1alpha1.RefusalGroup) bool { return true }) {
			reasons = append(reasons, fmt.Sprintf("%d %s", len(group.FailedNodes), strings.TrimPrefix(group.Reason, "node(s) ")))
		}
		parts = append(parts, fmt.Sprintf("%s0/%d nodes are available: %s", answer.prefix(f), len(in.nodes), strings.Join(reasons, ", ")))
	}
	return strings.Join(parts, "; ")
}

// preempt adds what evictions would change.
func (f Findings) preempt(in region, detail *schedulingv1alpha1.ExplanationDetail) {
	for _, answer := range f.Answers {
		if found := answer.preemption(); found != nil && in.has(found.NodeName) && !answer.schedulable(in) {
			if told := answer.told().Preemption; len(told.Victims) > 0 || len(found.Victims) == 0 {
				detail.NodePossibleVictims = append(detail.NodePossibleVictims, f.victims(told))
			}
		}
	}
	detail.SchedulableAfterPreemption = everyAnswer(f, in, Answer.schedulableAfterPreemption)
	detail.PreemptExplanation = &schedulingv1alpha1.SchedulingResult{Schedulable: detail.SchedulableAfterPreemption}
	if detail.SchedulableAfterPreemption {
		return
	}
	detail.PreemptExplanation.FailedMessage = f.helpless(in)
	for _, answer := range f.Answers {
		for _, group := range answer.groups(in, func(g diagnosticsv1alpha1.RefusalGroup) bool { return !g.PreemptionMayHelp }) {
			detail.PreemptExplanation.NodeFailedDetails = merge(detail.PreemptExplanation.NodeFailedDetails, group)
		}
	}
}

// helpless says why evictions make no room in a region.
func (f Findings) helpless(in region) string {
	for _, answer := range f.Answers {
		found, told := answer.Status.Preemption, answer.told().Preemption
		switch {
		case found == nil || answer.schedulable(in):
		case found.Verdict != diagnosticsv1alpha1.PreemptionEvicts:
			return told.Message
		case !in.has(found.NodeName):
			return fmt.Sprintf("%s, but on a node elsewhere", told.Message)
		}
	}
	return noVictims
}

const noVictims = "no pods were found whose eviction makes room"

// victims are the pods that would be evicted, with what the cluster says of them. One that has no node is nominated to it.
func (f Findings) victims(found *diagnosticsv1alpha1.Preemption) schedulingv1alpha1.NodePossibleVictim {
	listed := schedulingv1alpha1.NodePossibleVictim{NodeName: found.NodeName}
	for _, v := range found.Victims {
		victim := schedulingv1alpha1.PossibleVictim{NamespacedPod: schedulingv1alpha1.NamespacedPod{Namespace: v.Namespace, Name: v.Name}}
		if v.ReservationName != "" { // in no namespace
			victim.NamespacedPod = schedulingv1alpha1.NamespacedPod{Name: v.ReservationName}
		} else if f.Victims != nil {
			if pod := f.Victims(v.Namespace, v.Name); pod != nil {
				victim.UID, victim.IsNominatedPod = pod.UID, pod.Spec.NodeName == ""
			}
		}
		listed.PossibleVictims = append(listed.PossibleVictims, victim)
	}
	return listed
}

// preemption is what the scheduler would do for the pod if it evicts any, nil otherwise. It was tried.
func (a Answer) preemption() *diagnosticsv1alpha1.Preemption {
	if found := a.Status.Preemption; found != nil && found.Verdict == diagnosticsv1alpha1.PreemptionEvicts {
		return found
	}
	return nil
}

// bound shortens the lists of nodes evenly until no more than maxNodeNames are left in all.
func bound(status *schedulingv1alpha1.ScheduleExplanationStatus) {
	var lists []*[]string
	for i := range status.DetailedExplanation {
		detail := &status.DetailedExplanation[i]
		for _, result := range []*schedulingv1alpha1.SchedulingResult{detail.ScheduleExplanation, detail.PreemptExplanation} {
			if result == nil {
				continue
			}
			for j := range result.NodeFailedDetails {
				lists = append(lists, &result.NodeFailedDetails[j].FailedNodes)
			}
		}
	}
	longest := longestWithin(lists, maxNodeNames)
	for _, list := range lists {
		*list = (*list)[:min(len(*list), longest)]
	}
}

// longestWithin is the largest length to which the lists can be cut so that they hold at most limit entries in all.
func longestWithin(lists []*[]string, limit int) int {
	lengths := make([]int, len(lists))
	for i, list := range lists {
		lengths[i] = len(*list)
	}
	slices.Sort(lengths)
	longest := 0
	for i, length := range lengths {
		if left := len(lengths) - i; length*left > limit {
			return limit / left
		}
		limit, longest = limit-length, length
	}
	return longest
}
