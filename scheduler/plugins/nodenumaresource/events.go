package nodenumaresource

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/numa"
	"koordinator.sh/koord/scheduler/queueinghint"
	"koordinator.sh/koord/scheduler/recovery"
)

// TopologyEvents is the resource under which changes of NodeResourceTopologies reach the scheduling queue.
const TopologyEvents = fwk.EventResource("noderesourcetopologies.v1alpha1.topology.node.k8s.io")

// EventsToRegister names what may let a node pass that the plugin refused: a node that offers more, and pods that leave
// what they held.
func (p *Plugin) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return recovery.Hints(Name, []fwk.ClusterEventWithHint{
		{Event: fwk.ClusterEvent{Resource: TopologyEvents, ActionType: fwk.Add | fwk.Update | fwk.Delete}, QueueingHintFn: p.afterReport},
		{Event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add | fwk.UpdateNodeAllocatable | fwk.UpdateNodeLabel | fwk.UpdateNodeAnnotation}, QueueingHintFn: p.afterNode},
		{Event: fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.Delete}, QueueingHintFn: p.afterPodGone},
		{Event: fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.UpdatePodScaleDown | fwk.UpdatePodLabel}, QueueingHintFn: p.afterPodChanged},
		queueinghint.OwnEdits(),
	}), nil
}

// afterReport wakes pods that the node could take, when its report offers more than before.
func (p *Plugin) afterReport(_ klog.Logger, pod *corev1.Pod, oldObject, newObject any) (fwk.QueueingHint, error) {
	before, after, err := queueinghint.Objects[topologyv1alpha1.NodeResourceTopology](oldObject, newObject)
	if err != nil {
		return fwk.Queue, err
	}
	name := nameOf(before, after)
	node, err := p.nodes.Get(name)
	if err != nil {
		return fwk.QueueSkip, nil // not a node, or no longer one: nothing to pass
	}
	p.state.Refresh(name)
	offer := numa.Observe(node, after)
	return queueinghint.If(offer.Exceeds(numa.Observe(node, before)) && p.couldTake(pod, node, offer)), nil
}

// afterNode does the same for labels, annotations and allocatable.
func (p *Plugin) afterNode(_ klog.Logger, pod *corev1.Pod, oldObject, newObject any) (fwk.QueueingHint, error) {
	after, ok := newObject.(*corev1.Node)
	if !ok {
		return fwk.Queue, fmt.Errorf("unexpected object %T in a node event", newObject)
	}
	p.state.Refresh(after.Name)
	report := p.state.Report(after.Name)
	offer := numa.Observe(after, report)
	if before, known := oldObject.(*corev1.Node); known && before != nil && !offer.Exceeds(numa.Observe(before, report)) && !growsAmplified(offer, before, after) {
		return fwk.QueueSkip, nil
	}
	return queueinghint.If(p.couldTake(pod, after, offer)), nil
}

// growsAmplified is true for a node that shows more cpu than it has, and now shows more than before.
func growsAmplified(offer *numa.Node, before, after *corev1.Node) bool {
	return offer.Ratio > 1 && after.Status.Allocatable.Cpu().Cmp(*before.Status.Allocatable.Cpu()) > 0
}

// afterPodGone wakes pods when a pod leaves CPUs or zones behind, or cpu of an amplified node.
func (p *Plugin) afterPodGone(_ klog.Logger, pod *corev1.Pod, oldObject, _ any) (fwk.QueueingHint, error) {
	gone, ok := oldObject.(*corev1.Pod)
	if !ok {
		return fwk.Queue, fmt.Errorf("unexpected object %T in a pod event", oldObject)
	}
	if gone.Spec.NodeName == "" {
		return fwk.QueueSkip, nil
	}
	node, err := p.nodes.Get(gone.Spec.NodeName)
	if err != nil {
		return fwk.QueueSkip, nil
	}
	offer := p.state.Node(node)
	if _, held := numa.Held(gone); !held && offer.Ratio <= 1 {
		return fwk.QueueSkip, nil
	}
	return queueinghint.If(p.couldTake(pod, node, offer)), nil
}

// afterPodChanged wakes everyone when another pod shrinks on an amplified node.
func (p *Plugin) afterPodChanged(_ klog.Logger, pod *corev1.Pod, _, newObject any) (fwk.QueueingHint, error) {
	changed, ok := newObject.(*corev1.Pod)
	if !ok {
		return fwk.Queue, fmt.Errorf("unexpected object %T in a pod event", newObject)
	}
	if changed.Spec.NodeName == "" {
		return fwk.QueueSkip, nil
	}
	node, err := p.nodes.Get(changed.Spec.NodeName)
	if err != nil {
		return fwk.QueueSkip, nil
	}
	offer := p.state.Node(node)
	return queueinghint.If(offer.Ratio > 1 && p.couldTake(pod, node, offer)), nil
}

// couldTake is true when the node would do if no pod were on it.
func (p *Plugin) couldTake(pod *corev1.Pod, node *corev1.Node, offer *numa.Node) bool {
	request, verdict := numa.RequestOf(pod, p.args)
	return verdict.Passed() && numa.CouldTake(p.args, offer, request, node.Status.Allocatable)
}

func nameOf(before, after *topologyv1alpha1.NodeResourceTopology) string {
	if after != nil {
		return after.Name
	}
	if before != nil {
		return before.Name
	}
	return ""
}
