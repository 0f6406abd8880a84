package reservations

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	decision "koordinator.sh/koord/decision/scheduling/reservation"
)

// shownAs returns an operating-mode pod as it stands on its node: itself, or, once another pod uses what it holds, with what that
// leaves over.
func shownAs(reservation *decision.Reservation, users map[types.UID]decision.User) *corev1.Pod {
	if len(users) == 0 {
		return reservation.Pod
	}
	if rest := decision.Remainder(reservation, reservation.Pod, users); rest != nil {
		return rest
	}
	return emptied(reservation.Pod)
}

// emptied returns a pod without requests and allocations.
func emptied(pod *corev1.Pod) *corev1.Pod {
	empty := pod.DeepCopy()
	empty.Spec.Overhead, empty.Spec.Resources, empty.Spec.InitContainers = nil, nil, nil
	for i := range empty.Spec.Containers {
		empty.Spec.Containers[i].Resources = corev1.ResourceRequirements{}
	}
	for i := range empty.Status.ContainerStatuses {
		empty.Status.ContainerStatuses[i].Resources, empty.Status.ContainerStatuses[i].AllocatedResources = nil, nil
	}
	delete(empty.Annotations, extension.AnnotationResourceStatus)
	delete(empty.Annotations, extension.AnnotationDeviceAllocated)
	return empty
}

// Showing calls show with a pod as it is to be put into the scheduler's cache, while nothing changes about it: an operating-mode
// pod that is used requests what is left of it, every other pod is itself.
func (s *State) Showing(pod *corev1.Pod, show func(*corev1.Pod)) {
	if !extension.IsReservationOperatingMode(pod.Labels) || pod.Spec.NodeName == "" {
		show(pod)
		return
	}
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	compiled, _ := decision.CompileOperatingPod(pod) // owners that cannot be read match no pod
	show(shownAs(compiled, s.usersOn(compiled)))
}

// usersOn returns the users of a reservation on its node. It expects the lock to be held.
func (s *State) usersOn(reservation *decision.Reservation) map[types.UID]decision.User {
	users := map[types.UID]decision.User{}
	for pod, u := range s.users[reservation.UID] {
		if u.node == reservation.Node {
			users[pod] = u.User
		}
	}
	return users
}
