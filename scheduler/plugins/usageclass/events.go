package usageclass

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/decision/scheduling/usageclass"
	"koordinator.sh/koord/scheduler/queueinghint"
	"koordinator.sh/koord/scheduler/recovery"
)

// EventsToRegister names what may let a node pass that the plugin refused: a pod of the class that leaves a node or asks
// for less, a larger node, another class of the pod.
func (p *Plugin) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return recovery.Hints(Name, []fwk.ClusterEventWithHint{
		{Event: fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.Delete}, QueueingHintFn: afterPodGone},
		{Event: fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.UpdatePodLabel | fwk.UpdatePodScaleDown}, QueueingHintFn: afterPodChanged},
		{Event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add | fwk.UpdateNodeAllocatable}, QueueingHintFn: afterNode},
	}), nil
}

func afterPodGone(_ klog.Logger, pod *corev1.Pod, oldObject, _ any) (fwk.QueueingHint, error) {
	gone, ok := oldObject.(*corev1.Pod)
	if !ok {
		return fwk.Queue, fmt.Errorf("unexpected object %T in a pod event", oldObject)
	}
	return queueinghint.If(gone.Spec.NodeName != "" && usageclass.ClassOf(gone) == usageclass.ClassOf(pod)), nil
}

func afterPodChanged(_ klog.Logger, pod *corev1.Pod, oldObject, newObject any) (fwk.QueueingHint, error) {
	before, okBefore := oldObject.(*corev1.Pod)
	after, okAfter := newObject.(*corev1.Pod)
	if !okBefore || !okAfter {
		return fwk.Queue, fmt.Errorf("unexpected objects %T and %T in a pod event", oldObject, newObject)
	}
	if after.UID == pod.UID {
		return fwk.Queue, nil
	}
	class := usageclass.ClassOf(pod)
	left := usageclass.ClassOf(before) == class && usageclass.ClassOf(after) != class
	smaller := usageclass.ClassOf(after) == class && usageclass.RequestOf(after).MilliCPU < usageclass.RequestOf(before).MilliCPU
	return queueinghint.If(after.Spec.NodeName != "" && (left || smaller)), nil
}

func afterNode(_ klog.Logger, _ *corev1.Pod, oldObject, newObject any) (fwk.QueueingHint, error) {
	after, ok := newObject.(*corev1.Node)
	if !ok {
		return fwk.Queue, fmt.Errorf("unexpected object %T in a node event", newObject)
	}
	before, ok := oldObject.(*corev1.Node)
	return queueinghint.If(!ok || before == nil || after.Status.Allocatable.Cpu().Cmp(*before.Status.Allocatable.Cpu()) > 0), nil
}
