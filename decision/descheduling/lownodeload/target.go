package lownodeload

import (
	"cmp"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/decision/descheduling/placement"
	"koordinator.sh/koord/decision/scheduling/nodefit"
)

// target is a node that takes pods, with those that this pass sends there.
type target struct {
	*nodeState
	place placement.Node
	// room is the smallest share of a resource that is left below the high threshold.
	room float64
}

// targets of one part of a pass, those with the most room first.
type targets struct {
	nodes []*target
	// unfit are the templates that no node takes because of taints or affinity.
	unfit map[placement.Template]bool
}

// add puts a node where its room belongs.
func (t *targets) add(node *target) {
	node.room = node.roomAfter(nil)
	at, _ := slices.BinarySearchFunc(t.nodes, node, byRoom)
	t.nodes = slices.Insert(t.nodes, at, node)
}

// take counts a pod that is going to come to a node.
func (t *targets) take(node *target, candidate *candidate) {
	at := slices.Index(t.nodes, node)
	t.nodes = slices.Delete(t.nodes, at, at+1)
	node.take(candidate)
	t.add(node)
}

func byRoom(a, b *target) int {
	return cmp.Or(cmp.Compare(b.room, a.room), strings.Compare(a.Name, b.Name))
}

// have is true when any node has the resource.
func (t *targets) have(i int) bool {
	return slices.ContainsFunc(t.nodes, func(node *target) bool { return node.capacity[i] > 0 })
}

// find returns the node with the most room that takes a pod; nil when none does. No node is above a high threshold with it.
func (t *targets) find(candidate *candidate) *target {
	key, templated := placement.TemplateOf(candidate.pod)
	if templated && t.unfit[key] {
		return nil
	}
	pod := placement.NewPod(candidate.pod)
	admitted := false
	for _, node := range t.nodes {
		if node.roomAfter(candidate) < 0 || !node.place.Admits(pod) {
			continue
		}
		admitted = true
		if node.place.Holds(pod) {
			return node
		}
	}
	full := func(node *target) bool { return node.roomAfter(candidate) < 0 && node.place.Admits(pod) }
	if templated && !admitted && !slices.ContainsFunc(t.nodes, full) {
		if t.unfit == nil {
			t.unfit = map[placement.Template]bool{}
		}
		t.unfit[key] = true
	}
	return nil
}

// roomAfter is the smallest share of a resource that is left below the high threshold when the pod is there, or now without a pod;
// negative when there is none.
func (t *target) roomAfter(candidate *candidate) float64 {
	if candidate == nil {
		return t.roomBelow(t.usage, t.node.high, nil)
	}
	room := t.roomBelow(t.usage, t.node.high, candidate.usage)
	if candidate.prod && room >= 0 {
		room = math.Min(room, t.roomBelow(t.prodUsage, t.prod.high, candidate.usage))
	}
	return room
}

func (t *target) roomBelow(usage, high, arriving []int64) float64 {
	room := 1.0
	for i, capacity := range t.capacity {
		left := add(high[i], -usage[i])
		if arriving != nil && arriving[i] > 0 {
			if left = add(left, -arriving[i]); left < 0 {
				return -1
			}
		}
		if capacity > 0 {
			room = math.Min(room, math.Max(float64(left), 0)/float64(capacity))
		}
	}
	return room
}

// take counts a pod that is going to come.
func (t *target) take(candidate *candidate) {
	addInto(t.usage, candidate.usage)
	if candidate.prod {
		addInto(t.prodUsage, candidate.usage)
	}
	t.place.Add(candidate.pod)
}

// tolerated is true when a pod tolerates every taint of any target, as LowNodeUtilization asks.
func (t *targets) tolerated(pod *corev1.Pod) bool {
	return slices.ContainsFunc(t.nodes, func(node *target) bool {
		taints := node.Spec.Taints
		return len(pod.Spec.Tolerations) >= len(taints) && !slices.ContainsFunc(taints, func(taint corev1.Taint) bool {
			return !nodefit.Tolerates(pod, &taint)
		})
	})
}
