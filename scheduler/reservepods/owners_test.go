package reservepods

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

func TestOwnersHearThatTheyMayUseAReservation(t *testing.T) {
	tests := map[string]struct {
		before, after func(r *schedulingv1alpha1.Reservation)
		owner         string
	}{
		"it accepts pods": {
			before: func(r *schedulingv1alpha1.Reservation) { r.Spec.Unschedulable = true },
			after:  func(r *schedulingv1alpha1.Reservation) { r.Spec.Unschedulable = false },
			owner:  "web",
		},
		"it has lost its taint": {
			before: func(r *schedulingv1alpha1.Reservation) {
				r.Spec.Taints = []corev1.Taint{{Key: "kept", Effect: corev1.TaintEffectNoSchedule}}
			},
			after: func(r *schedulingv1alpha1.Reservation) { r.Spec.Taints = nil },
			owner: "web",
		},
		"it is for others": {
			before: func(*schedulingv1alpha1.Reservation) {},
			after: func(r *schedulingv1alpha1.Reservation) {
				r.Spec.Owners = newReservation("late", "6", false).Spec.Owners
			},
			owner: "late",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(newNode("node-1", "10"))
			reservation := newReservation("web", "6", false)
			test.before(reservation)
			c.objects.create(reservation)
			r := c.start(t, "")
			until(t, "the reservation is placed", "Available node-1", r.phase("web"))
			r.create(newPod("owner", test.owner, "6"))
			until(t, "the owner finds no room", true, r.failed("owner"))
			c.objects.change("web", func(object *schedulingv1alpha1.Reservation) *schedulingv1alpha1.Reservation {
				test.after(object)
				return object
			})
			until(t, "the owner finds its room", "node-1/web", r.placement("owner"))
		})
	}
}

// TestAnOwnerThatCameBeforeTheReservationWasShown has the scheduler place a Reservation and not receive the event: its owner is
// tried while the room is held by a pod that is only assumed.
func TestAnOwnerThatCameBeforeTheReservationWasShown(t *testing.T) {
	c := newCluster(newNode("node-1", "4"))
	r := c.start(t, "")
	r.create(newPod("before", "other", "3"))
	until(t, "a pod is there first", "node-1", r.placement("before"))
	c.objects.create(newReservation("web", "4", false))
	until(t, "the reservation waits", true, func() bool { return len(c.objects.get("web").Status.Conditions) > 0 })
	c.objects.hush()
	r.delete("before")
	until(t, "the reservation is placed", "unseen", r.phase("web"))
	r.create(newPod("owner", "web", "4"))
	until(t, "the owner finds no room", true, r.failed("owner"))
	c.objects.look()
	until(t, "the owner finds its room", "node-1/web", r.placement("owner"))
}
