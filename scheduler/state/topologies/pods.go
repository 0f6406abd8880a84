package topologies

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/numa"
)

// podHandler keeps what was reserved for a pod until the pod is gone, and takes over what its annotations say. It must not
// forget the reservation as soon as they do: the scheduler's cache learns of them at another moment, and shows the pod
// without them until then.
func (s *State) podHandler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) {
			if pod, ok := object.(*corev1.Pod); ok {
				s.confirm(pod)
			}
		},
		UpdateFunc: func(oldObject, newObject any) {
			before, _ := oldObject.(*corev1.Pod)
			after, ok := newObject.(*corev1.Pod)
			if ok && (before == nil || !sameAllocation(before, after)) {
				s.confirm(after)
			}
		},
		DeleteFunc: func(object any) {
			if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = gone.Obj
			}
			if pod, ok := object.(*corev1.Pod); ok {
				s.book.Unreserve(pod.UID)
			}
		},
	}
}

func sameAllocation(before, after *corev1.Pod) bool {
	return before.Spec.NodeName == after.Spec.NodeName &&
		before.Annotations[extension.AnnotationResourceStatus] == after.Annotations[extension.AnnotationResourceStatus] &&
		before.Annotations[extension.AnnotationResourceSpec] == after.Annotations[extension.AnnotationResourceSpec] &&
		before.Annotations[extension.AnnotationReservationAllocated] == after.Annotations[extension.AnnotationReservationAllocated]
}

// confirm replaces what was reserved by what the pod says.
func (s *State) confirm(pod *corev1.Pod) {
	if pod.Spec.NodeName == "" {
		return
	}
	if _, reserved := s.book.Reserved(pod.UID); !reserved {
		return
	}
	if held, found := numa.Held(pod); found {
		s.book.Reserve(pod.Spec.NodeName, pod, held)
	}
}
