package migration

import (
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// event is something that may happen in a state; it reports whether it can.
type event struct {
	name string
	// fault is true for what is bounded in number.
	fault bool
	do    func(*cluster) bool
}

func events() []event {
	reservation := func(c *cluster) bool { return c.Reservation != nil && c.Reservation.Phase == "" }
	available := func(c *cluster) bool {
		return c.Reservation != nil && c.Reservation.Phase == schedulingv1alpha1.ReservationAvailable
	}
	placedOn := func(node string) func(*cluster) bool {
		return func(c *cluster) bool {
			if !reservation(c) || node == target && c.Node == nil {
				return false
			}
			c.Reservation.Phase, c.Reservation.Node, c.Reservation.Unschedulable = schedulingv1alpha1.ReservationAvailable, node, ""
			return true
		}
	}
	return append(append(surgeEvents(), requestEvents()...), []event{
		{"time passes", false, func(c *cluster) bool { c.Ticks++; return c.Ticks <= ttlTicks+1 }},
		{"the arbitrator lets the job start", false, func(c *cluster) bool {
			if extension.HasPassedArbitration(c.Job.Annotations) {
				return false
			}
			if c.Job.Annotations == nil {
				c.Job.Annotations = map[string]string{}
			}
			c.Job.Annotations[extension.AnnotationPassedArbitration] = "true"
			return true
		}},
		{"the reservation is scheduled", false, placedOn(target)},
		{"the reservation is scheduled to the pod's node", true, placedOn(home)},
		{"the reservation is unschedulable", true, func(c *cluster) bool {
			if !reservation(c) {
				return false
			}
			c.Reservation.Unschedulable = "0/2 nodes are available"
			return true
		}},
		{"the reservation expires", true, func(c *cluster) bool {
			if !reservation(c) && !available(c) {
				return false
			}
			c.Reservation.Phase, c.Reservation.Ended = schedulingv1alpha1.ReservationFailed, "expired"
			return true
		}},
		{"the reservation is deleted", true, func(c *cluster) bool {
			if c.Reservation == nil {
				return false
			}
			c.Reservation = nil
			return true
		}},
		{"another pod takes the reservation", true, func(c *cluster) bool {
			if !available(c) {
				return false
			}
			c.Reservation.Phase, c.Reservation.Users = schedulingv1alpha1.ReservationSucceeded, []corev1.ObjectReference{{Namespace: "default", Name: "other", UID: "other"}}
			c.Replacement = &Replacement{UID: "other"}
			return true
		}},
		{"the replacement takes the reservation", false, func(c *cluster) bool {
			if !available(c) || c.Pod != nil && !c.Pod.Terminating && c.Pod.DetachedBy == "" {
				return false
			}
			c.Reservation.Phase, c.Reservation.Users = schedulingv1alpha1.ReservationSucceeded, []corev1.ObjectReference{{Namespace: "default", Name: "new", UID: "new"}}
			c.Replacement = &Replacement{UID: "new"}
			return true
		}},
		{"the replacement is ready", false, func(c *cluster) bool {
			if c.Replacement == nil || c.Replacement.Ready {
				return false
			}
			c.Replacement.Ready = true
			return true
		}},
		{"the replacement is deleted", true, func(c *cluster) bool {
			if c.Replacement == nil {
				return false
			}
			c.Replacement = nil
			return true
		}},
		{"the pod terminates", false, func(c *cluster) bool {
			if c.Pod == nil || !c.Pod.Terminating {
				return false
			}
			c.Pod = nil
			return true
		}},
		{"a user deletes the pod", true, func(c *cluster) bool {
			if c.Pod == nil || c.Pod.Terminating {
				return false
			}
			c.Pod.Terminating = true
			return true
		}},
		{"a pod of the same name is created", true, func(c *cluster) bool {
			if c.Pod != nil {
				return false
			}
			c.Pod = &Pod{UID: "namesake", Node: home, Controlled: true, Scheduler: "koord-scheduler"}
			return true
		}},
		{"the pod finishes", true, func(c *cluster) bool {
			if c.Pod == nil || c.Pod.Finished {
				return false
			}
			c.Pod.Finished = true
			return true
		}},
		{"the target node is deleted", true, func(c *cluster) bool {
			if c.Node == nil {
				return false
			}
			c.Node = nil
			return true
		}},
		{"the target node is cordoned or uncordoned", true, func(c *cluster) bool {
			if c.Node == nil {
				return false
			}
			c.Node.Unschedulable = !c.Node.Unschedulable
			return true
		}},
		{"a user pauses or resumes the job", true, func(c *cluster) bool {
			c.Job.Spec.Paused = !c.Job.Spec.Paused
			return true
		}},
		{"a user aborts the job", true, func(c *cluster) bool {
			if extension.IsMigrationAborted(c.Job.Annotations) {
				return false
			}
			if c.Job.Annotations == nil {
				c.Job.Annotations = map[string]string{}
			}
			c.Job.Annotations[extension.AnnotationAbortMigration] = "true"
			return true
		}},
		{"the clock is set back", true, func(c *cluster) bool { c.Ticks -= 2; return c.Ticks >= -2 }},
	}...)
}
