package explain

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
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

// additionWithChanges proposes one more node like some that exist, and what else keeps the pod from it: what the pod itself asks for, or an
// object such as a quota. Nil when no chain of changes is found for any of the kinds tried.
func (s *simulation) additionWithChanges(ctx context.Context, w *clusterView, e *evaluation) (*candidate, error) {
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
	node := of.empty()
	for taken := true; taken; {
		node.Name += "-like"
		_, err := w.Get(node.Name)
		taken = err == nil
	}
	if _, named := node.Labels[corev1.LabelHostname]; named {
		node.Labels[corev1.LabelHostname] = node.Name
	}
	metric := s.metricOf(w, node.Name, of.like.Name)
	return candidate{
		cost: costAddNode,
		fix: diagnosticsv1alpha1.Fix{
			Target: diagnosticsv1alpha1.FixCluster, Kind: kindAddNode, Node: node.Name,
			Description: fmt.Sprintf("add a node like %s%s: the pod fits on it without other pods", of.like.Name, of.difference()),
			Mentions:    []diagnosticsv1alpha1.SourceRef{{Kind: "Node", Name: of.like.Name}},
		},
		edit: func(w *clusterView) (*clusterView, error) { return w.withNewNode(node, of.like.Name, metric), nil },
	}
}

// metricOf is what the agent of a new node would report first: that the system uses what it uses on the node it is like. Nil when
// no agent reports there.
func (s *simulation) metricOf(w *clusterView, name, like string) *slov1alpha1.NodeMetric {
	reported := w.NodeMetric(like)
	if reported == nil {
		return nil
	}
	metric := &slov1alpha1.NodeMetric{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: *reported.Spec.DeepCopy()}
	metric.Status.UpdateTime = &metav1.Time{Time: s.now()}
	metric.Status.NodeMetric = &slov1alpha1.NodeMetricInfo{}
	if before := reported.Status.NodeMetric; before != nil {
		before.SystemUsage.DeepCopyInto(&metric.Status.NodeMetric.SystemUsage)
		before.SystemUsage.DeepCopyInto(&metric.Status.NodeMetric.NodeUsage)
	}
	return metric
}

// withNewNode adds a node that nothing runs on, with what its agent reports; nil when no agent does.
func (w *clusterView) withNewNode(node *corev1.Node, like string, metric *slov1alpha1.NodeMetric) *clusterView {
	edited, info := w.edit(), framework.NewNodeInfo()
	info.SetNode(node)
	edited.nodes[node.Name] = info
	edited.added = append(slices.Clip(edited.added), &addedNode{name: node.Name, like: like})
	edited.metrics[node.Name] = metric
	return edited
}
