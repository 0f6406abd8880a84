package deviceshare

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/device"
	"koordinator.sh/koord/scheduler/queueinghint"
	"koordinator.sh/koord/scheduler/recovery"
)

// DeviceEvents is the resource under which changes of Devices reach the scheduling queue.
const DeviceEvents = fwk.EventResource("devices.v1alpha1.scheduling.koordinator.sh")

// EventsToRegister names what may let a node pass that the plugin refused: a node that offers more, and pods that leave
// devices of a type that the pod asks for.
func (p *Plugin) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	ofNodes := fwk.Add | fwk.UpdateNodeLabel
	if p.adapts {
		ofNodes |= fwk.UpdateNodeAnnotation // nodes are locked by annotations
	}
	return recovery.Hints(Name, []fwk.ClusterEventWithHint{
		{Event: fwk.ClusterEvent{Resource: DeviceEvents, ActionType: fwk.Add | fwk.Update | fwk.Delete}, QueueingHintFn: p.afterDevice},
		{Event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: ofNodes}, QueueingHintFn: p.afterNode},
		{Event: fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.Delete}, QueueingHintFn: p.afterPodGone},
		queueinghint.OwnEdits(), // it asks for less, for other devices, or for another isolation
	}), nil
}

// afterDevice wakes pods that the node could serve if it were empty, when its Device offers them more than before. A node
// that loses its Device has nothing to refuse by.
func (p *Plugin) afterDevice(_ klog.Logger, pod *corev1.Pod, oldObject, newObject any) (fwk.QueueingHint, error) {
	before, after, err := queueinghint.Objects[schedulingv1alpha1.Device](oldObject, newObject)
	if err != nil {
		return fwk.Queue, err
	}
	if after == nil {
		return fwk.Queue, nil
	}
	node, err := p.nodes.Get(after.Name)
	if err != nil {
		return fwk.QueueSkip, nil // not a node, or no longer one: nothing to pass
	}
	found, refusal, err := p.parse(pod)
	if err != nil || refusal != nil || found.request == nil {
		return fwk.Queue, nil // what was refused for the pod alone may have changed with it
	}
	offer := p.state.Decode(after)
	if before != nil && !offer.Gains(p.state.Decode(before), found.request) {
		return fwk.QueueSkip, nil
	}
	return queueinghint.If(p.couldServe(found.request, offer, node)), nil
}

// couldServe is true when the node could serve the request if it were empty.
func (p *Plugin) couldServe(request *device.Request, offer *device.Node, node *corev1.Node) bool {
	return device.Fits(device.Input{Ledger: device.NewLedger(offer, node.Labels, nil), Request: request, Policy: p.policy}, nil) == nil
}

func (p *Plugin) afterNode(_ klog.Logger, pod *corev1.Pod, oldObject, newObject any) (fwk.QueueingHint, error) {
	after, ok := newObject.(*corev1.Node)
	if !ok {
		return fwk.Queue, fmt.Errorf("unexpected object %T in a node event", newObject)
	}
	if before, known := oldObject.(*corev1.Node); known && before != nil && !device.LabelsDiffer(before.Labels, after.Labels) &&
		!(p.adapts && device.LockChanged(before.Annotations, after.Annotations)) {
		return fwk.QueueSkip, nil
	}
	offer := p.state.Node(after.Name)
	found, refusal, err := p.parse(pod)
	if offer == nil || err != nil || refusal != nil || found.request == nil {
		return fwk.Queue, nil
	}
	return queueinghint.If(p.couldServe(found.request, offer, after)), nil
}

// afterPodGone wakes pods that ask for what a pod held that is gone.
func (p *Plugin) afterPodGone(_ klog.Logger, pod *corev1.Pod, oldObject, _ any) (fwk.QueueingHint, error) {
	gone, ok := oldObject.(*corev1.Pod)
	if !ok {
		return fwk.Queue, fmt.Errorf("unexpected object %T in a pod event", oldObject)
	}
	held, found := p.state.Holds(gone)
	if !found {
		// The pod may have been given devices, and be forgotten already, before its annotations said so.
		return queueinghint.If(gone.Spec.NodeName != "" && device.Concerns(gone)), nil
	}
	asking, refusal, err := p.parse(pod)
	if err != nil || refusal != nil || asking.request == nil {
		return fwk.Queue, nil
	}
	return queueinghint.If(asking.request.Holds(&held)), nil
}
