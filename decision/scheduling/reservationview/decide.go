package reservationview

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/scheduling/reservation"
)

// Overviews says of all Reservations how they fare and which pods use them, by name. A Reservation that pods name and that does not exist
// is among them, as Missing.
func Overviews(in Input) []diagnosticsv1alpha1.ReservationOverview {
	users, known := usersOf(in.Pods), map[types.UID]bool{}
	out := []diagnosticsv1alpha1.ReservationOverview{}
	for i := range in.Reservations {
		r := &in.Reservations[i]
		known[r.UID] = true
		out = append(out, overview(r, users[r.UID], &in))
	}
	for uid, pods := range users {
		if !known[uid] {
			out = append(out, missing(pods))
		}
	}
	slices.SortFunc(out, func(a, b diagnosticsv1alpha1.ReservationOverview) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(Rank(b.State), Rank(a.State)), cmp.Compare(podKey(a.Pods), podKey(b.Pods)))
	})
	return out
}

// podKey orders overviews of one name.
func podKey(pods []diagnosticsv1alpha1.ReservationPod) string {
	if len(pods) == 0 {
		return ""
	}
	return pods[0].Namespace + "/" + pods[0].Name
}

// usersOf are the pods that use a Reservation, by its UID. A pod in operating mode stands for a Reservation itself, and is no Missing one.
func usersOf(pods []corev1.Pod) map[types.UID][]*corev1.Pod {
	users := map[types.UID][]*corev1.Pod{}
	for i := range pods {
		pod := &pods[i]
		uses, err := extension.GetReservationAllocated(pod.Annotations)
		if err == nil && uses != nil && uses.UID != "" && podrequest.Consumes(pod) {
			users[uses.UID] = append(users[uses.UID], pod)
		}
	}
	for i := range pods {
		if extension.IsReservationOperatingMode(pods[i].Labels) {
			delete(users, pods[i].UID)
		}
	}
	return users
}

func overview(r *schedulingv1alpha1.Reservation, users []*corev1.Pod, in *Input) diagnosticsv1alpha1.ReservationOverview {
	out := diagnosticsv1alpha1.ReservationOverview{
		ObjectMeta: metav1.ObjectMeta{Name: r.Name, UID: r.UID, Labels: r.Labels}, NodeName: r.Status.NodeName, Owners: Owners(r),
		AllocateOnce: extension.IsReservationAllocateOnce(r),
	}
	out.State, out.Reason = StateOf(r)
	if at, expires := reservation.ExpiresAt(r); expires && !Ended(out.State) {
		out.Expires = &metav1.Time{Time: at}
	}
	holds := Resources(r)
	if Ended(out.State) {
		holds = nil // what its status says was held before
	}
	for _, name := range holds {
		a := AmountOf(r, name)
		out.Resources = append(out.Resources, diagnosticsv1alpha1.ReservedResource{
			Resource: string(name), Unit: a.Unit(), Reserved: a.Reserved, Allocated: a.Allocated, Free: max(a.Reserved-a.Allocated, 0),
		})
	}
	for _, pod := range users {
		out.Pods = append(out.Pods, podOf(pod, holds))
	}
	for _, owner := range r.Status.CurrentOwners {
		if !slices.ContainsFunc(users, func(pod *corev1.Pod) bool { return pod.Namespace == owner.Namespace && pod.Name == owner.Name }) {
			out.Pods = append(out.Pods, diagnosticsv1alpha1.ReservationPod{Namespace: owner.Namespace, Name: owner.Name, Gone: !in.Unseen})
		}
	}
	sortPods(out.Pods)
	return out
}

// missing is a Reservation of which only its users are known.
func missing(users []*corev1.Pod) diagnosticsv1alpha1.ReservationOverview {
	named, _ := extension.GetReservationAllocated(users[0].Annotations) // it was read before
	out := diagnosticsv1alpha1.ReservationOverview{
		ObjectMeta: metav1.ObjectMeta{Name: named.Name, UID: named.UID}, State: diagnosticsv1alpha1.ReservationMissing,
		Reason: "pods use it, and it does not exist",
	}
	for _, pod := range users {
		out.Pods = append(out.Pods, podOf(pod, nil))
	}
	sortPods(out.Pods)
	return out
}

func sortPods(pods []diagnosticsv1alpha1.ReservationPod) {
	slices.SortFunc(pods, func(a, b diagnosticsv1alpha1.ReservationPod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}

// podOf is a pod with what it requests of some resources.
func podOf(pod *corev1.Pod, resources []corev1.ResourceName) diagnosticsv1alpha1.ReservationPod {
	out := diagnosticsv1alpha1.ReservationPod{Namespace: pod.Namespace, Name: pod.Name, Phase: string(pod.Status.Phase), NodeName: pod.Spec.NodeName}
	requests := reservation.RequestsOf(pod)
	for _, name := range resources {
		if value := requests[name]; value > 0 {
			out.Requests = append(out.Requests, diagnosticsv1alpha1.ForecastAmount{Resource: string(name), Amount: value, Unit: (&Amount{Resource: name}).Unit()})
		}
	}
	return out
}
