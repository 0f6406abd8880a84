package nodetiers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/decision/descheduling/placement"
)

// Verdict is what a pass does.
type Verdict struct {
	// Departures are the nodes that pods leave, in this order.
	Departures []Departure
	// DryRun says that the pods stay.
	DryRun bool
}

// Departure is the pods that leave one node.
type Departure struct {
	Node, Tier string
	Moves      []Move
	// Together is true when all of them must leave or none.
	Together bool
	// Cordon says to cordon the node before.
	Cordon bool
}

// Move is a pod that leaves its node.
type Move struct {
	Pod *corev1.Pod
	// Target is a node that it fits on.
	Target, Reason string
}

// Decide says which pods leave their tier. A nil trace records nothing.
func Decide(in Input, trace *Trace) Verdict {
	trace.begin()
	verdict := Verdict{DryRun: *in.Policy.args.DryRun}
	if *in.Policy.args.Paused {
		return verdict
	}
	tiers := tiersOf(&in)
	for i, sources := range tiers {
		targets := slices.Concat(tiers[i+1:]...)
		trace.tier(in.Policy.args.EvictionOrder[i].Name, len(sources), len(targets))
		if len(targets) == 0 {
			continue
		}
		for _, node := range sources {
			if departure, found := depart(&in, node, targets, trace); found {
				verdict.Departures = append(verdict.Departures, departure)
			}
		}
	}
	return verdict
}

// depart moves the pods of a node to nodes of later tiers.
func depart(in *Input, node *nodeState, targets []*nodeState, trace *Trace) (Departure, bool) {
	draining := in.Policy.args.Mode == DrainNode
	out := Departure{Node: node.Name, Tier: node.tier.Name, Together: draining, Cordon: draining && *in.Policy.args.AutoCordon}
	if draining && node.keeps() {
		trace.kept(node.Name)
		return Departure{}, false
	}
	reserved := map[*nodeState]placement.Node{}
	for _, pod := range candidates(in, node, trace) {
		if !draining && node.keeps() {
			trace.kept(node.Name)
			break
		}
		target := find(placement.NewPod(pod), targets, *in.Policy.args.NodeFit)
		if target == nil {
			trace.skipped(node.Name, pod, "it fits on no node of a later tier")
			if draining {
				for taken, before := range reserved {
					taken.place = before
				}
				return Departure{}, false
			}
			continue
		}
		if _, saved := reserved[target]; !saved {
			reserved[target] = target.place.Clone()
		}
		target.place.Add(pod)
		node.leave(pod)
		out.Moves = append(out.Moves, Move{Pod: pod, Target: target.Name, Reason: reason(node, draining)})
	}
	return out, len(out.Moves) > 0
}

// candidates are the pods that may leave a node, those with the smallest requests first.
func candidates(in *Input, node *nodeState, trace *Trace) []*corev1.Pod {
	type sized struct {
		*corev1.Pod
		cpu, memory int64
	}
	var all []sized
	for _, pod := range node.Pods {
		reason := in.Protected[pod.UID]
		if reason == "" {
			reason = in.Policy.selection.Refuses(pod)
		}
		if reason != "" {
			trace.skipped(node.Name, pod, reason)
			continue
		}
		requests := placement.NewPod(pod).Requests
		all = append(all, sized{pod, requests[corev1.ResourceCPU], requests[corev1.ResourceMemory]})
	}
	slices.SortFunc(all, func(a, b sized) int {
		return cmp.Or(cmp.Compare(a.cpu, b.cpu), cmp.Compare(a.memory, b.memory), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	out := make([]*corev1.Pod, len(all))
	for i := range all {
		out[i] = all[i].Pod
	}
	return out
}

// find is the first node that takes the pod, in the order of the tiers.
func find(pod *placement.Pod, targets []*nodeState, nodeFit bool) *nodeState {
	for _, target := range targets {
		if target.takes(pod, nodeFit) {
			return target
		}
	}
	return nil
}

// reason of an eviction, in upstream's words.
func reason(node *nodeState, draining bool) string {
	if draining {
		return fmt.Sprintf("drain node %s (sourcePriority=%s)", node.Name, node.tier.Name)
	}
	return fmt.Sprintf("evicting from %s priority resource to lower priority resource", node.tier.Name)
}
