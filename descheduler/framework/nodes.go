package framework

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"
	nodeutil "sigs.k8s.io/descheduler/pkg/descheduler/node"
	podutil "sigs.k8s.io/descheduler/pkg/descheduler/pod"
)

// nodeIndex finds pods by their node.
const nodeIndex = "koord-descheduler.node"

// indexPods adds the index of pods by node, unless it is there.
func indexPods(informer cache.SharedIndexInformer) error {
	if _, ok := informer.GetIndexer().GetIndexers()[nodeIndex]; ok {
		return nil
	}
	err := informer.AddIndexers(cache.Indexers{nodeIndex: func(object any) ([]string, error) {
		pod, ok := object.(*corev1.Pod)
		if !ok || pod.Spec.NodeName == "" {
			return nil, nil
		}
		return []string{pod.Spec.NodeName}, nil
	}})
	if err != nil {
		return fmt.Errorf("index pods by node: %w", err)
	}
	return nil
}

// podsOnNode lists the pods of a node that the filter lets pass, but for those that have a migration job.
func (d *Descheduler) podsOnNode(node string, filter podutil.FilterFunc) ([]*corev1.Pod, error) {
	objects, err := d.pods.ByIndex(nodeIndex, node)
	if err != nil {
		return nil, fmt.Errorf("list pods of node %s: %w", node, err)
	}
	pass := d.pass.Load()
	pods := make([]*corev1.Pod, 0, len(objects))
	for _, object := range objects {
		pod, ok := object.(*corev1.Pod)
		if ok && (pass == nil || pass.job(pod) == "") && (filter == nil || filter(pod)) {
			pods = append(pods, pod)
		}
	}
	// The index has no order, and two passes over the same pods should decide the same.
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return pods, nil
}

// readyNodes are the ready nodes that the selector selects, by name.
func (d *Descheduler) readyNodes(selector labels.Selector) ([]*corev1.Node, error) {
	nodes, err := d.config.Informers.Core().V1().Nodes().Lister().List(selector)
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	nodes = slices.DeleteFunc(nodes, func(node *corev1.Node) bool { return !nodeutil.IsReady(node) })
	slices.SortFunc(nodes, func(a, b *corev1.Node) int { return cmp.Compare(a.Name, b.Name) })
	return nodes, nil
}

// selected are those of the nodes that the selector selects.
func selected(nodes []*corev1.Node, selector labels.Selector) []*corev1.Node {
	if selector.Empty() {
		return slices.Clone(nodes)
	}
	var out []*corev1.Node
	for _, node := range nodes {
		if selector.Matches(labels.Set(node.Labels)) {
			out = append(out, node)
		}
	}
	return out
}
