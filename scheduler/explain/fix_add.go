package explain

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

const (
	// costAddNode is that of a machine: more than two evictions, and less than any number of changes beyond that.
	costAddNode = 250.0
	// maxShapes bounds the kinds of nodes that are tried.
	maxShapes = 4
)

// addition proposes one more node like some that exist, which nothing runs on yet; the kind that most nodes are of first. Nil
// when none of the kinds tried would take the pod.
func (s *simulation) addition(ctx context.Context, w *world, e *evaluation) (*candidate, error) {
	for _, like := range shapes(e) {
		node := emptyLike(like)
		c := candidate{
			cost: costAddNode,
			fix: diagnosticsv1alpha1.Fix{
				Target: diagnosticsv1alpha1.FixCluster, Kind: "addNode", Node: node.Name,
				Description: fmt.Sprintf("add a node like %s, or empty one: the pod fits while nothing else runs there", like.Name),
			},
			edit: func(w *world) (*world, error) { return w.withNewNode(node), nil },
		}
		works, err := s.try(ctx, w, e.pod, c, node.Name)
		if err != nil {
			return nil, err
		}
		if works > 0 {
			return &c, nil
		}
	}
	return nil, nil
}

// emptyLike is a node as another was when it joined the cluster.
func emptyLike(like *corev1.Node) *corev1.Node {
	node := like.DeepCopy()
	node.Name, node.UID = like.Name+"-like", ""
	if _, named := node.Labels[corev1.LabelHostname]; named {
		node.Labels[corev1.LabelHostname] = node.Name
	}
	node.Spec.Unschedulable = false
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return strings.HasPrefix(t.Key, "node.kubernetes.io/") // what a node gets while something is wrong with it
	})
	return node
}

// shapes picks one node of each kind: the same resources, labels and taints.
func shapes(e *evaluation) []*corev1.Node {
	count, first := map[string]int{}, map[string]*corev1.Node{}
	for _, info := range e.nodes {
		node := info.Node()
		shape := shapeOf(node)
		count[shape]++
		if first[shape] == nil || node.Name < first[shape].Name {
			first[shape] = node
		}
	}
	order := slices.SortedFunc(maps.Keys(first), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(first[a].Name, first[b].Name))
	})
	var chosen []*corev1.Node
	for _, shape := range order[:min(maxShapes, len(order))] {
		chosen = append(chosen, first[shape])
	}
	return chosen
}

func shapeOf(node *corev1.Node) string {
	empty := emptyLike(node)
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(empty.Status.Allocatable)) {
		fmt.Fprintf(&text, "%s=%d\x00", name, empty.Status.Allocatable.Name(name, "").Value())
	}
	for _, key := range slices.Sorted(maps.Keys(empty.Labels)) {
		if key != corev1.LabelHostname {
			text.WriteString(key + "=" + empty.Labels[key] + "\x00")
		}
	}
	for _, taint := range empty.Spec.Taints {
		text.WriteString(taint.ToString() + "\x00")
	}
	return text.String()
}

// withNewNode adds a node that nothing runs on.
func (w *world) withNewNode(node *corev1.Node) *world {
	edited, info := w.edit(), framework.NewNodeInfo()
	info.SetNode(node)
	edited.nodes[node.Name] = info
	edited.added = append(slices.Clip(edited.added), node.Name)
	return edited
}
