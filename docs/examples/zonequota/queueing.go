package zonequota

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
)

var (
	_ fwk.SignPlugin        = &Plugin{}
	_ fwk.EnqueueExtensions = &Plugin{}
)

// SignPod lets pods without a team be batched. Those with one cannot: each that is placed changes what a whole zone says
// to the next.
func (p *Plugin) SignPod(_ context.Context, pod *corev1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	if teamOf(pod) != "" {
		return nil, fwk.NewStatus(fwk.Unschedulable, "pods of a team are not signable")
	}
	return nil, nil
}

// EventsToRegister names what may lift a refusal: a pod of the team that leaves, and a node that opens a zone.
func (p *Plugin) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{
		{Event: fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.Delete}, QueueingHintFn: afterPodGone},
		{Event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add | fwk.UpdateNodeLabel}},
	}, nil
}

// afterPodGone wakes a pod when one of the same team has left a node, and for no other.
func afterPodGone(_ klog.Logger, pod *corev1.Pod, oldObject, _ any) (fwk.QueueingHint, error) {
	gone, ok := oldObject.(*corev1.Pod)
	if !ok {
		return fwk.Queue, fmt.Errorf("unexpected object %T in a pod event", oldObject)
	}
	if gone.Spec.NodeName != "" && belongs(gone, pod) {
		return fwk.Queue, nil
	}
	return fwk.QueueSkip, nil
}
