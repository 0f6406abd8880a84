// Package queueinghint is what the queueing hints of all plugins have in common: how they read an event, and how they answer.
package queueinghint

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
)

// If wakes the pod on a condition.
func If(condition bool) fwk.QueueingHint {
	if condition {
		return fwk.Queue
	}
	return fwk.QueueSkip
}

// OwnEdits wakes a pod that was itself edited: its labels, annotations or spec, and not its status, which the scheduler writes after
// every attempt. Kubernetes has no event for annotations, so that this one is for any update of a pod.
func OwnEdits() fwk.ClusterEventWithHint {
	return fwk.ClusterEventWithHint{Event: fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.Update}, QueueingHintFn: afterOwnEdit}
}

func afterOwnEdit(_ klog.Logger, pod *corev1.Pod, oldObject, newObject any) (fwk.QueueingHint, error) {
	before, after, err := Objects[corev1.Pod](oldObject, newObject)
	if err != nil {
		return fwk.Queue, err
	}
	return If(before != nil && after != nil && after.UID == pod.UID && Edited(before, after)), nil
}

// Edited is true when two versions of a pod differ in more than what the scheduler and the kubelet write.
func Edited(before, after *corev1.Pod) bool {
	return !maps.Equal(before.Labels, after.Labels) || !maps.Equal(before.Annotations, after.Annotations) ||
		!apiequality.Semantic.DeepEqual(before.Spec, after.Spec)
}

// Objects returns an object before and after an event: nil before it was created, and after it was deleted. Of one whose end
// was missed while a watch was broken it returns the last that was known.
func Objects[T any](oldObject, newObject any) (before, after *T, err error) {
	if before, err = object[T](oldObject); err != nil {
		return nil, nil, err
	}
	after, err = object[T](newObject)
	return before, after, err
}

func object[T any](given any) (*T, error) {
	switch typed := given.(type) {
	case nil:
		return nil, nil
	case *T:
		return typed, nil
	case cache.DeletedFinalStateUnknown:
		return object[T](typed.Obj)
	}
	return nil, fmt.Errorf("unexpected object %T in an event of a %T", given, *new(T))
}
