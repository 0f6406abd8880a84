package lownodeload

import (
	"cmp"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	schedulinghelper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/scheduling/nodefit"
)

// target is a node that takes pods, with those that this pass sends there.
type target struct {
	*nodeState
	arrived []*corev1.Pod
	// requested by all pods of the node; nil until it is asked for.
	requested map[corev1.ResourceName]int64
}

// template are the pods that a controller made alike: what one of them cannot run on, the others cannot either.
type template struct {
	controller     types.UID
	hash, revision string
}

// targets of one part of a pass.
type targets struct {
	nodes []*target
	// unfit are the templates that no node takes because of taints or affinity.
	unfit map[template]bool
}

// have is true when any node has the resource.
func (t *targets) have(i int) bool {
	return slices.ContainsFunc(t.nodes, func(node *target) bool { return node.capacity[i] > 0 })
}

// find returns the node for a pod that has the most room afterwards; nil when none takes it. No node is above a high threshold with it.
func (t *targets) find(candidate *candidate) *target {
	key, templated := templateOf(candidate.pod)
	if templated && t.unfit[key] {
		return nil
	}
	type option struct {
		at   int
		room float64
	}
	var options []option
	for i, node := range t.nodes {
		if room := node.roomAfter(candidate); room >= 0 {
			options = append(options, option{i, room})
		}
	}
	slices.SortFunc(options, func(a, b option) int { return cmp.Or(cmp.Compare(b.room, a.room), a.at-b.at) })
	pod := nodefit.NewPod(candidate.pod)
	affinity := nodeaffinity.GetRequiredNodeAffinity(candidate.pod)
	admitted := len(options) < len(t.nodes)
	for _, option := range options {
		node := t.nodes[option.at]
		if !node.admits(candidate.pod, &affinity) {
			continue
		}
		admitted = true
		if node.holds(pod) {
			return node
		}
	}
	if templated && !admitted {
		if t.unfit == nil {
			t.unfit = map[template]bool{}
		}
		t.unfit[key] = true
	}
	return nil
}

func templateOf(pod *corev1.Pod) (template, bool) {
	controller := metav1.GetControllerOf(pod)
	if controller == nil {
		return template{}, false
	}
	return template{controller.UID, pod.Labels["pod-template-hash"], pod.Labels["controller-revision-hash"]}, true
}

// roomAfter is the smallest share of a resource that is left below the high threshold when the pod is there; negative when there is
// none.
func (t *target) roomAfter(candidate *candidate) float64 {
	room := t.roomBelow(t.usage, t.node.high, candidate.usage)
	if candidate.prod && room >= 0 {
		room = math.Min(room, t.roomBelow(t.prodUsage, t.prod.high, candidate.usage))
	}
	return room
}

func (t *target) roomBelow(usage, high, arriving []int64) float64 {
	room := 1.0
	for i, capacity := range t.capacity {
		left := add(high[i], -add(usage[i], arriving[i]))
		if left < 0 && arriving[i] > 0 {
			return -1
		}
		if capacity > 0 {
			room = math.Min(room, math.Max(float64(left), 0)/float64(capacity))
		}
	}
	return room
}

// admits is true when the pod tolerates the node and selects it.
func (t *target) admits(pod *corev1.Pod, affinity *nodeaffinity.RequiredNodeAffinity) bool {
	if len(nodefit.Untolerated(pod, t.Node.Node, false)) > 0 {
		return false
	}
	matches, err := affinity.Match(t.Node.Node)
	return err == nil && matches
}

// holds is true when what the pod requests is free, and its host ports are.
func (t *target) holds(pod *nodefit.Pod) bool {
	if t.requested == nil {
		t.requested = map[corev1.ResourceName]int64{}
		for _, present := range t.Pods {
			t.request(present)
		}
	}
	if int64(len(t.Pods)+len(t.arrived)) >= t.Status.Allocatable.Pods().Value() {
		return false
	}
	for name, asked := range pod.Requests {
		if asked > amount.Of(name, t.Status.Allocatable[name])-t.requested[name] {
			return false
		}
	}
	if _, taken := nodefit.Ports(pod.Pod, t.Pods); taken {
		return false
	}
	_, taken := nodefit.Ports(pod.Pod, t.arrived)
	return !taken
}

func (t *target) request(pod *corev1.Pod) {
	for name, quantity := range nodefit.RequestsOf(pod) {
		t.requested[name] = add(t.requested[name], amount.Of(name, quantity))
	}
}

// take counts a pod that is going to come.
func (t *target) take(candidate *candidate) {
	addInto(t.usage, candidate.usage)
	if candidate.prod {
		addInto(t.prodUsage, candidate.usage)
	}
	t.arrived = append(t.arrived, candidate.pod)
	t.request(candidate.pod)
}

// tolerated is true when a pod tolerates every taint of any target, as LowNodeUtilization asks.
func (t *targets) tolerated(pod *corev1.Pod) bool {
	return slices.ContainsFunc(t.nodes, func(node *target) bool {
		taints := node.Spec.Taints
		return len(pod.Spec.Tolerations) >= len(taints) && !slices.ContainsFunc(taints, func(taint corev1.Taint) bool {
			return !schedulinghelper.TolerationsTolerateTaint(klog.Logger{}, pod.Spec.Tolerations, &taint, false)
		})
	})
}
