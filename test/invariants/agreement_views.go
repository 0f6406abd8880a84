package invariants

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Requested adds up what the pods on a node request, and what its reservations keep for pods to come, leaving out how many
// pods there are.
func (n *Node) Requested() corev1.ResourceList {
	sum := amounts{}
	for _, pod := range n.Pods {
		sum.add(n.charged(pod))
	}
	for _, reservation := range n.Reservations {
		sum.add(n.kept(reservation))
	}
	delete(sum, corev1.ResourcePods)
	return corev1.ResourceList(sum)
}

// RequestedAgrees compares what a scheduler counts as requested on a node, by resource, with the node's pods and
// reservations: thousandths of a CPU, whole units of the others.
func (n *Node) RequestedAgrees(said map[corev1.ResourceName]int64) []Violation {
	out := &found{invariant: CachesAgree, subject: "node " + n.Name}
	requested := n.Requested()
	for name, value := range said {
		quantity := requested[name]
		want := quantity.Value()
		if name == corev1.ResourceCPU {
			want = quantity.MilliValue()
		}
		if value != want {
			out.add("the scheduler counts %d of %s as requested, pods and reservations request %d", value, name, want)
		}
	}
	return out.sorted()
}

// ReservationAgrees compares the status of a reservation that holds room with the pods that use it.
func ReservationAgrees(reservation *schedulingv1alpha1.Reservation, pods []*corev1.Pod) []Violation {
	if reservation.Status.Phase != schedulingv1alpha1.ReservationAvailable {
		return nil
	}
	out := &found{invariant: CachesAgree, subject: "reservation " + reservation.Name}
	sum, owners, said := amounts{}, map[types.UID]string{}, map[types.UID]string{}
	for _, pod := range pods {
		if occupies(pod) && uses(pod, reservation) {
			sum.add(requestsOf(pod))
			owners[pod.UID] = nameOf(pod)
		}
	}
	for _, owner := range reservation.Status.CurrentOwners {
		said[owner.UID] = owner.Namespace + "/" + owner.Name
	}
	if !maps.Equal(owners, said) {
		out.add("its status names the owners %v, pods that use it are %v", slices.Sorted(maps.Values(said)), slices.Sorted(maps.Values(owners)))
	}
	for name, holds := range reservation.Status.Allocatable {
		want, got := sum[name], reservation.Status.Allocated[name]
		if want.Cmp(holds) > 0 {
			want = holds
		}
		if want.Cmp(got) != 0 {
			out.add("its status says that %s of %s is taken, owners took %s", got.String(), name, want.String())
		}
	}
	return out.sorted()
}

// QuotasAgree compares what was written of quotas with the pods, all as they were last seen. It holds some time after the last
// change.
func (w *Watcher) QuotasAgree() []Violation {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.tree().StatusesAgree()
}

// StatusesAgree compares what schedulers wrote into the statuses of reservations, quotas and PodGroups with the pods, all as
// they were last seen. It holds some time after the last change.
func (w *Watcher) StatusesAgree() []Violation {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	pods := slices.Collect(maps.Values(w.pods))
	all := w.tree().StatusesAgree()
	for _, reservation := range w.reservations {
		all = append(all, ReservationAgrees(reservation, pods)...)
	}
	gangs := w.gangs()
	for name, group := range w.podGroups {
		if gang := gangs[name]; gang != nil {
			all = append(all, gang.StatusAgrees(group)...)
		}
	}
	return all
}

// Nodes returns the nodes with these names as they were last seen.
func (w *Watcher) Nodes(names []string) []*Node {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	nodes := make([]*Node, len(names))
	for i, name := range names {
		nodes[i] = w.node(name)
	}
	return nodes
}
