package kubectlplugin

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/source/live/livetest"
)

// makeReservation holds cores and four GiB for each, of which pods have taken some.
func makeReservation(name, node string, reserved, taken int, owners ...string) schedulingv1alpha1.Reservation {
	amounts := func(n int) corev1.ResourceList { return list("cpu", fmt.Sprint(n), "memory", fmt.Sprintf("%dGi", 4*n)) }
	r := schedulingv1alpha1.Reservation{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name + "-uid"), CreationTimestamp: metav1.NewTime(testNow.Add(-15 * time.Minute))},
		Spec: schedulingv1alpha1.ReservationSpec{
			TTL: &metav1.Duration{Duration: time.Hour}, Owners: []schedulingv1alpha1.ReservationOwner{{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}}},
		},
	}
	if node == "" {
		return r
	}
	r.Status = schedulingv1alpha1.ReservationStatus{Phase: schedulingv1alpha1.ReservationAvailable, NodeName: node, Allocatable: amounts(reserved), Allocated: amounts(taken)}
	for _, owner := range owners {
		r.Status.CurrentOwners = append(r.Status.CurrentOwners, corev1.ObjectReference{Namespace: "shop", Name: owner})
	}
	return r
}

// userOf is a pod of 2 cores that uses a Reservation.
func userOf(name, reservation string) corev1.Pod {
	pod := makePod("shop", name, "worker-1", list("cpu", "2", "memory", "8Gi"))
	pod.Annotations = map[string]string{extension.AnnotationReservationAllocated: fmt.Sprintf(`{"name":%q,"uid":%q}`, reservation, reservation+"-uid")}
	return pod
}

// reservationsCluster has Reservations that are used, also by a pod that is gone, idle, without a node, expired, and one that only a pod
// knows.
func reservationsCluster() *livetest.Server {
	server := cluster()
	expired, blocked := makeReservation("old", "worker-2", 2, 0), makeReservation("big", "", 0, 0)
	expired.Status.Phase = schedulingv1alpha1.ReservationFailed
	expired.Status.Conditions = []schedulingv1alpha1.ReservationCondition{{
		Type: schedulingv1alpha1.ReservationConditionReady, Status: schedulingv1alpha1.ConditionStatusFalse,
		Reason: schedulingv1alpha1.ReasonReservationExpired, Message: "the reservation has expired",
	}}
	blocked.Status.Conditions = []schedulingv1alpha1.ReservationCondition{{
		Type: schedulingv1alpha1.ReservationConditionScheduled, Status: schedulingv1alpha1.ConditionStatusFalse,
		Reason: schedulingv1alpha1.ReasonReservationUnschedulable, Message: "0/3 nodes are available: 3 Insufficient cpu.",
	}}
	server.Reservations = []schedulingv1alpha1.Reservation{
		makeReservation("search", "worker-1", 8, 4, "search-0", "search-9"), makeReservation("spare", "worker-2", 4, 0), blocked, expired,
		makeReservation("over", "worker-1", 2, 3, "over-0"),
	}
	server.Pods = append(server.Pods, userOf("search-0", "search"), userOf("search-1", "search"), userOf("over-0", "over"), userOf("lost-0", "lost"))
	return server
}

func TestReservationsPrint(t *testing.T) {
	tests := map[string]struct {
		line string
		edit func(*livetest.Server)
	}{
		"tree-reservation":               {line: "tree reservation"},
		"tree-reservation-wide":          {line: "tree resv -o wide"},
		"tree-reservation-ascii":         {line: "tree reservation search --ascii"},
		"tree-reservation-missing":       {line: "tree reservation lost"},
		"tree-reservation-name":          {line: "tree reservation -o name"},
		"tree-reservation-yaml":          {line: "tree reservation search -o yaml"},
		"tree-reservation-jsonpath":      {line: "tree reservation -o jsonpath={.items[?(@.state==\"Idle\")].metadata.name}"},
		"tree-reservation-unknown":       {line: "tree reservation serach"},
		"tree-reservation-none":          {line: "tree reservation", edit: func(s *livetest.Server) { s.Reservations, s.Pods = nil, nil }},
		"tree-reservation-without-pods":  {line: "tree reservation --strict", edit: func(s *livetest.Server) { s.Denied = []string{"list pods"} }},
		"tree-reservation-not-permitted": {line: "tree reservation", edit: func(s *livetest.Server) { s.Denied = []string{"list reservations"} }},
		"tree-reservation-without-crds":  {line: "tree reservation", edit: func(s *livetest.Server) { s.NoCRDs = true }},
		"tree-reservation-hostile": {line: "tree reservation -o wide", edit: func(s *livetest.Server) {
			s.Reservations[0].Spec.Owners[0].LabelSelector.MatchLabels["app"] = "\x1b[31mred\x1b[0m\nerror: forged"
			s.Reservations[0].Status.CurrentOwners[1].Name = "\x1b[31mred\x1b[0m\nerror: forged"
			s.Reservations[3].Status.Conditions[0].Message = "\x1b]0;owned\x07"
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := reservationsCluster()
			if tc.edit != nil {
				tc.edit(server)
			}
			golden(t, name, tc.line, run(t, server, tc.line))
		})
	}
	for _, width := range []int{80, 160} {
		name, line := fmt.Sprintf("tree-reservation-%d", width), "tree reservation"
		golden(t, name, line, run(t, reservationsCluster(), line, func(o *Options) { o.Terminal = Terminal{Output: true, Width: width} }))
	}
}
