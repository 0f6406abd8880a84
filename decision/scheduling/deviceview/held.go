package deviceview

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/scheduling/device"
	"koordinator.sh/koord/decision/scheduling/reservation"
)

// holders are what the pods of a node hold, and what Reservations on it still hold beside their users, as koord-scheduler counts
// them.
func holders(in *Input) []device.Held {
	users := usersOf(in.Pods)
	var out []device.Held
	hold := func(pod *corev1.Pod) {
		if allocation, holds := device.HeldBy(pod); holds {
			out = append(out, device.Held{Pod: pod, Allocation: allocation})
		}
	}
	for _, pod := range in.Pods {
		switch {
		case !podrequest.Consumes(pod):
		case len(users[pod.UID]) > 0 && extension.IsReservationOperatingMode(pod.Labels):
			compiled, _ := reservation.CompileOperatingPod(pod) // owners that cannot be read match no pod
			if rest := reservation.Remainder(compiled, pod, users[pod.UID]); rest != nil {
				hold(rest)
			}
		default:
			hold(pod)
		}
	}
	for _, object := range in.Reservations {
		if !reservation.Active(object) {
			continue
		}
		compiled, _ := reservation.Compile(object) // what cannot be read matches no pod
		if rest := reservation.Remainder(compiled, reservation.ReservePod(object, "", false), users[object.UID]); rest != nil {
			hold(rest)
		}
	}
	return out
}

// usersOf are the pods that use a Reservation, or a pod in its place, by the UID of that.
func usersOf(pods []*corev1.Pod) map[types.UID]map[types.UID]reservation.User {
	users := map[types.UID]map[types.UID]reservation.User{}
	for _, pod := range pods {
		uses, err := extension.GetReservationAllocated(pod.Annotations)
		if err != nil || uses == nil || uses.UID == "" || !podrequest.Consumes(pod) {
			continue
		}
		if users[uses.UID] == nil {
			users[uses.UID] = map[types.UID]reservation.User{}
		}
		users[uses.UID][pod.UID] = reservation.NewUser(pod, pod.Annotations)
	}
	return users
}
