package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/scheduler/part"
)

// maxShapes bounds the kinds of nodes that are tried, and again those without what they demand of their pods.
const maxShapes = 6

// shape is a kind of node: that of an existing one, without some of its labels.
type shape struct {
	like    *corev1.Node
	without []string
}

// empty is a node of the shape when it joins the cluster, with the name of the existing one.
func (s shape) empty() *corev1.Node {
	node := s.like.DeepCopy()
	node.UID = ""
	node.Spec.Unschedulable = false
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return strings.HasPrefix(t.Key, "node.kubernetes.io/") // what a node gets while something is wrong with it
	})
	for _, key := range s.without {
		delete(node.Labels, key)
	}
	return node
}

// named is such a node with a name of its own.
func (s shape) named(name string) *corev1.Node {
	node := s.empty()
	node.Name = name
	if _, labelled := node.Labels[corev1.LabelHostname]; labelled {
		node.Labels[corev1.LabelHostname] = name
	}
	return node
}

// difference says in what the node differs from the existing one.
func (s shape) difference() string {
	if len(s.without) == 0 {
		return ", or drain one"
	}
	labels := make([]string, len(s.without))
	for i, key := range s.without {
		labels[i] = key + "=" + s.like.Labels[key]
	}
	return ", but without " + strings.Join(labels, " and ")
}

// shapes picks one node of each kind: the same resources, labels, taints, and the same parts reported. The kind that most nodes
// are of comes first; kinds that demand something of all their pods are there without that, too.
func (s *simulation) shapes(e *evaluation) []shape {
	count, first := map[string]int{}, map[string]*corev1.Node{}
	for _, info := range e.nodes {
		node := info.Node()
		text := s.describe(shape{like: node})
		count[text]++
		if first[text] == nil || node.Name < first[text].Name {
			first[text] = node
		}
	}
	order := slices.SortedFunc(maps.Keys(first), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(first[a].Name, first[b].Name))
	})
	var chosen, relaxed []shape
	for _, text := range order[:min(maxShapes, len(order))] {
		chosen = append(chosen, shape{like: first[text]})
	}
	for _, of := range chosen {
		for _, key := range s.nodePolicies {
			if _, demanded := of.like.Labels[key]; demanded {
				of.without = append(of.without, key)
			}
		}
		if len(of.without) > 0 && first[s.describe(of)] == nil {
			relaxed = append(relaxed, of)
		}
	}
	return append(chosen, relaxed...)
}

// describe is a text that is the same for nodes of the same kind.
func (s *simulation) describe(of shape) string {
	empty := of.empty()
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
	for _, view := range s.simulated.views {
		if describer, ok := view.(part.NodeDescriber); ok {
			text.WriteString(describer.DescribeNode(empty.Name) + "\x00")
		}
	}
	return text.String()
}
