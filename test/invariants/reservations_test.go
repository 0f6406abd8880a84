package invariants

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// owned makes a reservation one of the pods with a label.
func owned(r *schedulingv1alpha1.Reservation, value string) *schedulingv1alpha1.Reservation {
	r = r.DeepCopy()
	r.Spec.Owners = []schedulingv1alpha1.ReservationOwner{{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": value}}}}
	return r
}

// appOwner is a pod with the label, bound with room of the reservation.
func appOwner(name, cpu string) *corev1.Pod {
	pod := owner(name, cpu)
	pod.Labels["app"] = "web"
	return pod
}

func TestUsesOfReservationsAreChecked(t *testing.T) {
	controlled := appOwner("a", "1")
	controlled.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "web", UID: "rs", Controller: new(true)}}
	by := func(owner schedulingv1alpha1.ReservationOwner) *schedulingv1alpha1.Reservation {
		r := reservation("4")
		r.Spec.Owners = []schedulingv1alpha1.ReservationOwner{owner}
		return r
	}
	replicaSet := func(name string) *schedulingv1alpha1.ReservationControllerReference {
		return &schedulingv1alpha1.ReservationControllerReference{OwnerReference: metav1.OwnerReference{Kind: "ReplicaSet", Name: name}}
	}
	elsewhere, ended := owned(reservation("4"), "web"), owned(reservation("4"), "web")
	elsewhere.Status.NodeName, ended.Status.Phase = "n2", schedulingv1alpha1.ReservationFailed
	for name, test := range map[string]struct {
		pod         *corev1.Pod
		reservation *schedulingv1alpha1.Reservation
		want        string
	}{
		"an owner by label":            {appOwner("a", "1"), owned(reservation("4"), "web"), ""},
		"no owner by label":            {appOwner("a", "1"), owned(reservation("4"), "db"), "is none of its owners"},
		"an owner by name":             {appOwner("a", "1"), by(schedulingv1alpha1.ReservationOwner{Object: &corev1.ObjectReference{Name: "a"}}), ""},
		"no owner by name":             {appOwner("a", "1"), by(schedulingv1alpha1.ReservationOwner{Object: &corev1.ObjectReference{Name: "b"}}), "is none of its owners"},
		"an owner by controller":       {controlled, by(schedulingv1alpha1.ReservationOwner{Controller: replicaSet("web")}), ""},
		"no owner by controller":       {controlled, by(schedulingv1alpha1.ReservationOwner{Controller: replicaSet("db")}), "is none of its owners"},
		"a pod without its controller": {appOwner("a", "1"), by(schedulingv1alpha1.ReservationOwner{Controller: replicaSet("web")}), "is none of its owners"},
		"an entry that says nothing":   {appOwner("a", "1"), by(schedulingv1alpha1.ReservationOwner{}), "is none of its owners"},
		"on another node":              {appOwner("a", "1"), elsewhere, `uses it on node n1, it is on node "n2"`},
		"that has ended":               {appOwner("a", "1"), ended, "uses it, it is Failed"},
	} {
		t.Run(name, func(t *testing.T) {
			got := MayUse(test.pod, test.reservation)
			if test.want == "" && len(got) > 0 {
				t.Error(got)
			}
			if test.want != "" {
				expect(t, got, ReservationWithinAllocated, test.want)
			}
		})
	}
}

func TestAReservationThatEndedIsStillUsedOnce(t *testing.T) {
	p := newPlay(t)
	once := owned(reservation("4"), "web")
	p.put(t, "reservations", once)
	p.put(t, "pods", appOwner("a", "1"))
	succeeded := once.DeepCopy()
	succeeded.Status.Phase = schedulingv1alpha1.ReservationSucceeded
	p.put(t, "reservations", succeeded)
	p.none(t)
	p.put(t, "pods", appOwner("b", "1"))
	expect(t, p.Violations(), ReservationWithinAllocated, "it allocates once and is used by ns/a and ns/b")
	if got := p.Seen().Reserved; got != 2 {
		t.Errorf("%d pods were seen to use reservations, want 2", got)
	}
}

func TestAUseMayRestOnOwnersOfAMomentAgo(t *testing.T) {
	for after, want := range map[time.Duration]bool{Window - time.Second: false, Window + time.Second: true} {
		p := newPlay(t)
		p.clock = p.clock.Add(time.Minute)
		p.put(t, "reservations", owned(reservation("4"), "web"))
		p.clock = p.clock.Add(time.Minute)
		p.put(t, "reservations", owned(reservation("4"), "db"))
		p.clock = p.clock.Add(after)
		p.put(t, "pods", appOwner("a", "1"))
		if got := len(p.Violations()) > 0; got != want {
			t.Errorf("%s after the owners changed: violation %v, want %v", after, got, want)
		}
	}
	p := newPlay(t)
	p.put(t, "pods", appOwner("a", "1"))
	expect(t, p.Violations(), ReservationWithinAllocated, "uses reservation r, which does not exist")
}

func TestStatusesAreComparedWithPods(t *testing.T) {
	right := owned(reservation("4"), "web")
	right.Spec.AllocateOnce = new(false)
	right.Status.CurrentOwners = []corev1.ObjectReference{{Namespace: "ns", Name: "a", UID: appOwner("a", "1").UID}}
	right.Status.Allocated = list("cpu", "1")
	pods := []*corev1.Pod{appOwner("a", "1"), podOf("b", "cpu", "2")}
	if got := ReservationAgrees(right, pods); len(got) > 0 {
		t.Error(got)
	}
	wrong := right.DeepCopy()
	wrong.Status.Allocated = list("cpu", "2")
	expect(t, ReservationAgrees(wrong, pods), CachesAgree, "says that 2 of cpu is taken, owners took 1")
	expect(t, ReservationAgrees(right, pods[1:]), CachesAgree, "names the owners [ns/a], pods that use it are []")

	node := nodeOf(pods...)
	node.Reservations = []*schedulingv1alpha1.Reservation{right}
	said := map[corev1.ResourceName]int64{"cpu": 6000} // 1 used and 3 left of the reservation, and 2
	if got := node.RequestedAgrees(said); len(got) > 0 {
		t.Error(got)
	}
	said["cpu"] = 5999
	expect(t, node.RequestedAgrees(said), CachesAgree, "counts 5999 of cpu as requested, pods and reservations request 6000")
}

func TestWatcherComparesStatuses(t *testing.T) {
	p := newPlay(t)
	r := owned(reservation("4"), "web")
	r.Spec.AllocateOnce = new(false)
	p.put(t, "reservations", r)
	q := quota("ns", "", "0", "8")
	q.Status.Used = list("cpu", "2")
	p.put(t, "elasticquotas", q)
	p.put(t, "pods", appOwner("a", "1"))
	got := p.StatusesAgree()
	for _, want := range []string{"pods that use it are [ns/a]", "says that 2000 of cpu is used, from its pods follows 1000"} {
		expect(t, got, CachesAgree, want)
	}
	if nodes := p.Nodes([]string{"n1"}); len(nodes) != 1 || len(nodes[0].Pods) != 1 || !strings.Contains(nodes[0].Pods[0].Name, "a") {
		t.Errorf("nodes %v, want n1 with its pod", nodes)
	}
}
