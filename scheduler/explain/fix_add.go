package explain

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/scheduler/part"
)

const (
	// costAddNode is that of a machine: more than two evictions, and less than any number of changes beyond that.
	costAddNode = 250.0
	// kindAddNode is the kind of such a fix.
	kindAddNode = "addNode"
)

// addition proposes one more node like some that exist, which nothing runs on yet; the kind that most nodes are of first. Nil
// when none of the kinds tried would take the pod.
func (s *simulation) addition(ctx context.Context, w *clusterView, e *evaluation) (*candidate, error) {
	for _, shape := range s.shapes(e) {
		c := s.adding(w, shape)
		if len(s.permitted(e.pod, []candidate{c})) == 0 {
			continue
		}
		works, err := s.try(ctx, w, e.pod, c, c.fix.Node)
		if err != nil {
			return nil, err
		}
		if works > 0 {
			return &c, nil
		}
	}
	return nil, nil
}

// adaption proposes one more node like some that exist, and what else keeps the pod from it: what the pod itself asks for, or an
// object such as a quota. Nil when no chain of changes is found for any of the kinds tried.
func (s *simulation) adaption(ctx context.Context, w *clusterView, e *evaluation) (*candidate, error) {
	var best *candidate
	for _, shape := range s.shapes(e) {
		c := s.adding(w, shape)
		edited, pod, ok := c.apply(w, e.pod)
		if !ok || len(s.permitted(e.pod, []candidate{c})) == 0 {
			continue
		}
		found, err := s.follow(ctx, chain{node: c.fix.Node, links: []candidate{c}, view: edited, pod: pod})
		if err != nil {
			return nil, err
		}
		if found == nil {
			continue
		}
		if all := join(found.links); best == nil || all.cost < best.cost {
			best = &all
		}
	}
	return best, nil
}

// adding adds an empty node like another one.
func (s *simulation) adding(w *clusterView, of shape) candidate {
	name := of.like.Name
	for taken := true; taken; {
		name += "-like"
		_, err := w.Get(name)
		taken = err == nil
	}
	node := of.named(name)
	return candidate{
		cost: costAddNode,
		fix: diagnosticsv1alpha1.Fix{
			Target: diagnosticsv1alpha1.FixCluster, Kind: kindAddNode, Node: node.Name,
			Description: fmt.Sprintf("add a node like %s%s: the pod fits on it without other pods", of.like.Name, of.difference()),
			Mentions:    []diagnosticsv1alpha1.SourceRef{{Kind: "Node", Name: of.like.Name}},
		},
		edit: func(w *clusterView) (*clusterView, error) { return w.withNewNode(node, of.like.Name, s.now()), nil },
	}
}

// withNewNode adds a node that nothing runs on, whose agent reports at a time what that of another node does.
func (w *clusterView) withNewNode(node *corev1.Node, like string, at time.Time) *clusterView {
	edited, info := w.edit(), framework.NewNodeInfo()
	info.SetNode(node)
	edited.nodes[node.Name] = info
	edited.added = append(slices.Clip(edited.added), node.Name)
	for i, view := range edited.views {
		if adder, concerned := view.(part.NodeAdder); concerned {
			edited.views[i] = adder.WithNode(node, like, at)
		}
	}
	return edited
}
