package objects

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// ReasonPreempted is the reason of the event about a pod that had to make room for another one.
const ReasonPreempted = "Preempted"

// MayHavePreempted is true for a pod that the scheduler may have made room for: it only does for one that it found no node for.
func MayHavePreempted(in *TimelineSnapshot) bool {
	if policy := in.Pod.Spec.PreemptionPolicy; policy != nil && *policy == corev1.PreemptNever {
		return false
	}
	for i := range in.Events {
		if in.Events[i].Reason == eventFailedScheduling {
			return true
		}
	}
	return in.Pod.Status.NominatedNodeName != ""
}

// preemptions adds the pods that had to make room for the pod.
func (t *timeline) preemptions() {
	for i := range t.in.Preemptions {
		event := &t.in.Preemptions[i]
		if !t.preempted(event) {
			continue
		}
		first, _, _ := occurrences(event)
		victim := event.InvolvedObject
		t.add(first, byOf(event), eventPreempts, fmt.Sprintf("%s/%s: %s", victim.Namespace, victim.Name, strings.TrimSpace(event.Message)), false)
	}
}

// preempted is true for an event about a victim of the pod: schedulers relate it to the pod, or write the UID into the message.
func (t *timeline) preempted(event *corev1.Event) bool {
	if event.Related != nil && event.Related.Name != "" {
		return refersTo(event.Related, t.in.Pod)
	}
	uid := string(t.in.Pod.UID)
	return uid != "" && strings.Contains(event.Message+" ", "by pod "+uid+" ")
}
