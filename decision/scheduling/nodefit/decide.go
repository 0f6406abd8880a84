package nodefit

import "koordinator.sh/koord/decision/scheduling/refusals"

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
