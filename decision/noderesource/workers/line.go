package workers

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/decision/scheduling/nodefit"
)

// pending is a pod without a node, and the nodes that it may get.
type pending struct {
	pod     *corev1.Pod
	request amounts
	reach   *reach
}

// reach are nodes by name; nil for all. Pods with the same constraints share one.
type reach struct{ nodes map[string]bool }

// claim is a number of workers that a decision has asked for and that do not exist yet.
type claim struct {
	count    int
	request  amounts
	nodes    map[string]bool
	priority int32
}

// Claim counts workers that were decided on as waiting for nodes, so that others decided on later do not count on the same room.
func (c *Cluster) Claim(in *Input, sample *corev1.Pod, count int32) {
	if count <= 0 {
		return
	}
	one := claim{count: int(count), request: in.Request, nodes: map[string]bool{}}
	for i := range in.Nodes {
		one.nodes[in.Nodes[i].Name] = true
	}
	if sample != nil {
		one.priority = priorityOf(sample)
	}
	c.claims = append(c.claims, one)
}

// lineUp orders the pods that wait for a node as the scheduler does.
func (c *Cluster) lineUp() []pending {
	line, reaches := make([]pending, 0, len(c.Pending)), map[string]*reach{}
	for i := range c.Pending {
		pod := &c.Pending[i]
		if pod.DeletionTimestamp != nil || len(pod.Spec.SchedulingGates) > 0 {
			continue
		}
		key := constraints(pod)
		if reaches[key] == nil {
			reaches[key] = &reach{c.nodesOf(pod)}
		}
		line = append(line, pending{pod, RequestOf(nodefit.RequestsOf(pod)), reaches[key]})
	}
	slices.SortFunc(line, func(a, b pending) int {
		return cmp.Or(cmp.Compare(priorityOf(b.pod), priorityOf(a.pod)), a.pod.CreationTimestamp.Compare(b.pod.CreationTimestamp.Time),
			cmp.Compare(a.pod.UID, b.pod.UID))
	})
	return line
}

// constraints are what decides which nodes a pod may get, in one string.
func constraints(pod *corev1.Pod) string {
	var required *corev1.NodeSelector
	if affinity := pod.Spec.Affinity; affinity != nil && affinity.NodeAffinity != nil {
		required = affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	key, err := json.Marshal([]any{pod.Spec.NodeSelector, required, pod.Spec.Tolerations})
	if err != nil { // not for these types
		return string(pod.UID)
	}
	return string(key)
}

// nodesOf are the nodes that a pod may get, whatever is free there; nil for all.
func (c *Cluster) nodesOf(pod *corev1.Pod) map[string]bool {
	shape, out := nodefit.NewPod(pod), map[string]bool{}
	for i := range c.Nodes {
		node := &c.Nodes[i]
		if _, tainted := nodefit.Taints(pod, node, false); !tainted && shape.Selects(node) {
			out[node.Name] = true
		}
	}
	if len(out) == len(c.Nodes) {
		return nil
	}
	return out
}

// wait adds the pods that come before workers: those of no lower priority that request any of what workers do. Those that are alike and
// follow each other are counted.
func (c *Cluster) wait(in *Input, priority int32, workers map[types.UID]bool) {
	var before *reach
	for i := range c.line {
		each := &c.line[i]
		if workers[each.pod.UID] || priorityOf(each.pod) < priority || !concerns(each.request, in.Request) {
			continue
		}
		request := within(each.request, in.Request)
		if each.reach == before && maps.Equal(in.Waiting[len(in.Waiting)-1].Request, request) {
			in.Waiting[len(in.Waiting)-1].Count++
			continue
		}
		in.Waiting = append(in.Waiting, Waiting{Count: 1, Request: request, Nodes: each.reach.nodes})
		before = each.reach
	}
	for _, each := range c.claims {
		if each.priority >= priority && concerns(each.request, in.Request) {
			in.Waiting = append(in.Waiting, Waiting{Count: each.count, Request: within(each.request, in.Request), Nodes: each.nodes})
		}
	}
}

// concerns is true for a request of anything but room for a pod that workers request too.
func concerns(request, workers amounts) bool {
	for name := range workers {
		if name != corev1.ResourcePods && request[name] > 0 {
			return true
		}
	}
	return false
}

// within is the part of a request that is of what workers request.
func within(request, workers amounts) amounts {
	out := amounts{}
	for name := range workers {
		if request[name] > 0 {
			out[name] = request[name]
		}
	}
	return out
}

func priorityOf(pod *corev1.Pod) int32 {
	if pod.Spec.Priority == nil {
		return 0
	}
	return *pod.Spec.Priority
}
