package nodefit

import (
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/decision/scheduling/refusals"
)

// Input of Decide.
type Input struct {
	Pod  *Pod
	Node *corev1.Node
	// Pods of the node that have not ended, without the pod itself.
	Pods []*corev1.Pod
	// PodsUnknown is true when they could not be read. Requests are compared with the whole node then.
	PodsUnknown bool
}

// Decide returns every reason for which a plugin keeps the pod off the node, in the order in which the scheduler asks them.
func Decide(in Input) []refusals.Refusal {
	var found []refusals.Refusal
	add := func(one refusals.Refusal, refused bool) {
		if refused {
			found = append(found, one)
		}
	}
	add(Cordon(in.Pod.Pod, in.Node))
	add(Taints(in.Pod.Pod, in.Node, false))
	if matched, err := in.Pod.affinity.Match(in.Node); err != nil || !matched {
		found = append(found, Affinity(in.Pod.Pod, in.Node))
	}
	add(ports(in.Pod.ports, in.Pods))
	return append(found, fit(in)...)
}

// fit is one refusal for each resource that is short. As in NodeResourcesFit, evictions help with none where they do not help with
// one of them.
func fit(in Input) []refusals.Refusal {
	var found []refusals.Refusal
	final := false
	for _, shortage := range shortages(in) {
		found = append(found, shortage.Refusal())
		final = final || found[len(found)-1].Final
	}
	for i := range found {
		found[i].Final = final
	}
	return found
}
