package loadaware

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/loadaware"
	"koordinator.sh/koord/scheduler/queueinghint"
	"koordinator.sh/koord/scheduler/recovery"
	"koordinator.sh/koord/scheduler/state"
)

// NodeMetricEvents is the resource under which changes of NodeMetrics reach the scheduling queue.
const NodeMetricEvents = fwk.EventResource("nodemetrics.v1alpha1.slo.koordinator.sh")

// EventsToRegister names what may let a node pass that the plugin refused. Each event is judged by the filter itself:
// a pod is woken only when the one node concerned passes after the change and did not before. What time alone lifts, such
// as the refusal of a node by a NodeMetric that then expires under enableScheduleWhenNodeMetricsExpired, comes with no
// event; the scheduler retries every refused pod after some minutes.
func (p *Plugin) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return recovery.Hints(Name, []fwk.ClusterEventWithHint{
		{Event: fwk.ClusterEvent{Resource: NodeMetricEvents, ActionType: fwk.Add | fwk.Update | fwk.Delete}, QueueingHintFn: p.afterNodeMetric},
		{Event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add | fwk.UpdateNodeAllocatable | fwk.UpdateNodeAnnotation}, QueueingHintFn: p.afterNode},
		{Event: fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.Delete}, QueueingHintFn: p.afterPodGone},
		{Event: fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.UpdatePodScaleDown | fwk.UpdatePodLabel}, QueueingHintFn: p.afterPodChanged},
		queueinghint.OwnEdits(), // its estimate may have fallen
	}), nil
}

func (p *Plugin) afterNodeMetric(_ klog.Logger, pod *corev1.Pod, oldObject, newObject any) (fwk.QueueingHint, error) {
	before, after, err := queueinghint.Objects[slov1alpha1.NodeMetric](oldObject, newObject)
	if err != nil {
		return fwk.Queue, err
	}
	name := nameOf(before, after)
	node, err := p.nodes.Get(name)
	if err != nil {
		return fwk.QueueSkip, nil // not a node, or no longer one: nothing to pass
	}
	if stamp := p.state.Stamp(name); stamp != nil {
		stamp.Add(1) // the pod may be tried before the state itself hears of the event
	}
	assigned := p.state.Assigned(name)
	return queueinghint.If(p.passes(pod, node, after, assigned, change{}) && !p.passes(pod, node, before, assigned, change{})), nil
}

func (p *Plugin) afterNode(_ klog.Logger, pod *corev1.Pod, oldObject, newObject any) (fwk.QueueingHint, error) {
	after, ok := newObject.(*corev1.Node)
	if !ok {
		return fwk.Queue, fmt.Errorf("unexpected object %T in a node event", newObject)
	}
	metric, assigned := p.state.NodeMetric(after.Name), p.state.Assigned(after.Name)
	if !p.passes(pod, after, metric, assigned, change{}) {
		return fwk.QueueSkip, nil
	}
	before, ok := oldObject.(*corev1.Node)
	return queueinghint.If(!ok || before == nil || !p.passes(pod, before, metric, assigned, change{})), nil
}

// afterPodGone wakes pods when a pod that counted by its estimate leaves a node.
func (p *Plugin) afterPodGone(_ klog.Logger, pod *corev1.Pod, oldObject, _ any) (fwk.QueueingHint, error) {
	gone, ok := oldObject.(*corev1.Pod)
	if !ok {
		return fwk.Queue, fmt.Errorf("unexpected object %T in a pod event", oldObject)
	}
	return queueinghint.If(p.lifts(pod, gone.Spec.NodeName, change{gone.UID, gone}, change{pod: gone.UID})), nil
}

// afterPodChanged wakes pods when the estimate of a pod on a node has fallen.
func (p *Plugin) afterPodChanged(_ klog.Logger, pod *corev1.Pod, oldObject, newObject any) (fwk.QueueingHint, error) {
	after, ok := newObject.(*corev1.Pod)
	if !ok {
		return fwk.Queue, fmt.Errorf("unexpected object %T in a pod event", newObject)
	}
	before, ok := oldObject.(*corev1.Pod)
	if !ok {
		return fwk.Queue, fmt.Errorf("unexpected object %T in a pod event", oldObject)
	}
	return queueinghint.If(p.lifts(pod, after.Spec.NodeName, change{after.UID, before}, change{after.UID, after})), nil
}

// lifts is true when a node passes after a change of its pods and did not before. Whether the state has seen the change
// already does not matter.
func (p *Plugin) lifts(pod *corev1.Pod, nodeName string, before, after change) bool {
	if nodeName == "" {
		return false
	}
	node, err := p.nodes.Get(nodeName)
	if err != nil {
		return false
	}
	metric, assigned := p.state.NodeMetric(nodeName), p.state.Assigned(nodeName)
	return p.passes(pod, node, metric, assigned, after) && !p.passes(pod, node, metric, assigned, before)
}

// passes runs the filter on a node as it was, or as it will be.
func (p *Plugin) passes(pod *corev1.Pod, node *corev1.Node, metric *slov1alpha1.NodeMetric, assigned state.Assigned, change change) bool {
	digest := p.suppose(node, metric, assigned, change)
	return loadaware.Filter(loadaware.Input{Policy: p.policy, Node: digest, Pod: p.policy.Estimate(pod), Now: p.now()}, nil).Passed()
}

func nameOf(before, after *slov1alpha1.NodeMetric) string {
	if after != nil {
		return after.Name
	}
	if before != nil {
		return before.Name
	}
	return ""
}
