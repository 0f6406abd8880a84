package tui

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

func TestTheStateOfAReservation(t *testing.T) {
	type edit func(*schedulingv1alpha1.Reservation)
	cpu := func(v string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(v)}
	}
	condition := func(of schedulingv1alpha1.ReservationConditionType, reason string) []schedulingv1alpha1.ReservationCondition {
		return []schedulingv1alpha1.ReservationCondition{{Type: of, Status: schedulingv1alpha1.ConditionStatusFalse, Reason: reason}}
	}
	for name, tc := range map[string]struct {
		edit        edit
		want        string
		wantProblem bool
	}{
		"pods use it":        {func(*schedulingv1alpha1.Reservation) {}, "Used", false},
		"no pod uses it":     {func(r *schedulingv1alpha1.Reservation) { r.Status.CurrentOwners = nil }, "Idle", false},
		"too much is taken":  {func(r *schedulingv1alpha1.Reservation) { r.Status.Allocated = cpu("5") }, "Overused", true},
		"it takes no pods":   {func(r *schedulingv1alpha1.Reservation) { r.Spec.Unschedulable = true }, "Cordoned", true},
		"it has no node yet": {func(r *schedulingv1alpha1.Reservation) { r.Status = schedulingv1alpha1.ReservationStatus{} }, "Pending", false},
		"no node takes it": {func(r *schedulingv1alpha1.Reservation) {
			r.Status = schedulingv1alpha1.ReservationStatus{Conditions: condition(schedulingv1alpha1.ReservationConditionScheduled, schedulingv1alpha1.ReasonReservationUnschedulable)}
		}, "Blocked", true},
		"its time is over": {func(r *schedulingv1alpha1.Reservation) {
			r.Status.Phase, r.Status.Conditions = schedulingv1alpha1.ReservationFailed, condition(schedulingv1alpha1.ReservationConditionReady, schedulingv1alpha1.ReasonReservationExpired)
		}, "Expired", false},
		"it failed": {func(r *schedulingv1alpha1.Reservation) { r.Status.Phase = schedulingv1alpha1.ReservationFailed }, "Failed", true},
		"it was used once": {func(r *schedulingv1alpha1.Reservation) {
			r.Status.Phase, r.Status.Allocated = schedulingv1alpha1.ReservationSucceeded, cpu("5")
		}, "Succeeded", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := schedulingv1alpha1.Reservation{Status: schedulingv1alpha1.ReservationStatus{
				Phase: schedulingv1alpha1.ReservationAvailable, NodeName: "node-1", Allocatable: cpu("4"), Allocated: cpu("2"), CurrentOwners: []corev1.ObjectReference{{Name: "web"}},
			}}
			tc.edit(&r)
			row := reservationRows([]schedulingv1alpha1.Reservation{r})[0]
			if got := string(row.state); got != tc.want || reservationProblem(&row) != tc.wantProblem {
				t.Errorf("state %s, problem %t, want %s, %t", got, reservationProblem(&row), tc.want, tc.wantProblem)
			}
		})
	}
}

func TestReservationsLeadToTheirObjects(t *testing.T) {
	for name, tc := range map[string]struct {
		keys []string
		want string
	}{
		"explain":             {[]string{"x"}, "nodes > reservations > big"},
		"to the node":         {[]string{"j", "n"}, "nodes > reservations > node-0009"},
		"to the pod":          {[]string{"G", "p"}, "nodes > reservations > shop/search-0005"},
		"no pod, no jump":     {[]string{"p"}, "nodes > reservations"},
		"from one to its pod": {[]string{"G", "enter", "x"}, "nodes > reservations > search > shop/search-0005"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 30).start().press(":reservations", "enter").press(tc.keys...)
			if got := r.crumbs(); got != tc.want {
				t.Errorf("leads to %q, want %q", got, tc.want)
			}
		})
	}
}
