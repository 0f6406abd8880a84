package migration

import (
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// detach takes the pod from its ReplicaSet, for which there must be a home.
func (c *cluster) detach(action Action) {
	switch {
	case !c.reserved():
		c.Violated = "the pod is detached without a home for the one that replaces it"
	case c.Job.Spec.Paused || Finished(c.Job) || action.UID != podUID:
		c.Violated = "the pod is detached although it must not be"
	case c.Pod != nil && c.Pod.UID == action.UID:
		c.Pod.DetachedBy, c.Pod.Controlled, c.Pod.Hashed = c.Job.UID, false, false
	}
}

// surged reports whether the pod was replaced before its eviction, and the one that replaces it is ready.
func (c *cluster) surged() bool {
	return c.Pod != nil && c.Pod.DetachedBy == c.Job.UID && c.Replacement != nil && c.Replacement.Ready
}

// surging is a job for a pod that is to be replaced before it is evicted.
func surging() cluster {
	c := start(schedulingv1alpha1.PodMigrationJobModeReservationFirst)
	c.Pod.Policy, c.Pod.Hashed, c.Workload = Surge, true, &Workload{Name: "web", MaxSurge: 1}
	return c
}

// surgingOnly is one that was allowed to start because of that.
func surgingOnly() cluster {
	c := surging()
	c.Job.Annotations = map[string]string{extension.AnnotationReplaceFirst: "true"}
	return c
}

// surgeEvents are what may happen to a pod that is replaced before it is evicted, and to its Deployment.
func surgeEvents() []event {
	return []event{
		{"a user gives the pod back to its ReplicaSet", true, func(c *cluster) bool {
			if c.Pod == nil || c.Pod.DetachedBy == "" {
				return false
			}
			c.Pod.DetachedBy, c.Pod.Controlled, c.Pod.Hashed = "", true, true
			return true
		}},
		{"the Deployment is rolled out", true, func(c *cluster) bool {
			if c.Workload == nil || c.Workload.RollingOut {
				return false
			}
			c.Workload.RollingOut = true
			return true
		}},
		{"a user changes the policy of the pod", true, func(c *cluster) bool {
			if c.Pod == nil || c.Pod.Policy != Surge {
				return false
			}
			c.Pod.Policy = Eviction
			return true
		}},
	}
}
