package reservepods

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// TestLifeOfAReservation follows one on a node of 10 CPUs, until it expires.
func TestLifeOfAReservation(t *testing.T) {
	c := newCluster(newNode("node-1", "10"))
	c.objects.create(newReservation("web", "6", false))
	r := c.start(t, "")
	until(t, "the reservation is placed", "Available node-1", r.phase("web"))
	until(t, "it is held", 6000, func() int64 { return r.held("node-1") })

	r.create(newPod("stranger", "other", "5"))
	until(t, "a pod that is no owner finds no room", true, r.failed("stranger"))

	r.create(newPod("owner", "web", "4"))
	until(t, "an owner finds its room", "node-1/web", r.placement("owner"))
	until(t, "the rest is held", 2000, func() int64 { return r.held("node-1") })
	until(t, "nothing is counted twice", 6000, func() int64 { return r.requested("node-1") })
	until(t, "the owner is written down", 1, func() int { return len(c.objects.get("web").Status.CurrentOwners) })

	r.create(newPod("small", "other", "4"))
	until(t, "what is not reserved is for everyone", "node-1", r.placement("small"))

	r.create(newPod("large", "web", "3"))
	until(t, "an owner beyond what is left finds no room on a full node", true, r.failed("large"))

	r.delete("owner")
	until(t, "the room of a user returns", "node-1/web", r.placement("large"))
	until(t, "and what is left of it is held", 3000, func() int64 { return r.held("node-1") })
	until(t, "the node is full", 10000, func() int64 { return r.requested("node-1") })

	r.delete("small")
	c.objects.change("web", func(object *schedulingv1alpha1.Reservation) *schedulingv1alpha1.Reservation {
		object.Spec.Expires = &metav1.Time{Time: time.Now().Add(-time.Second)}
		return object
	})
	until(t, "the reservation expires", "Failed node-1", r.phase("web"))
	until(t, "the pod that found no room has it now", "node-1", r.placement("stranger"))
	until(t, "nothing is held", 0, func() int64 { return r.held("node-1") })
	until(t, "users stay", 8000, func() int64 { return r.requested("node-1") })
}

func TestAReservationWaitsForRoom(t *testing.T) {
	c := newCluster(newNode("node-1", "4"))
	r := c.start(t, "")
	r.create(newPod("before", "other", "3"))
	until(t, "a pod is there first", "node-1", r.placement("before"))
	c.objects.create(newReservation("web", "2", false))
	until(t, "the condition says why", schedulingv1alpha1.ReasonReservationUnschedulable, func() string {
		if conditions := c.objects.get("web").Status.Conditions; len(conditions) > 0 {
			return conditions[0].Reason
		}
		return ""
	})
	r.delete("before")
	until(t, "the reservation is placed when there is room", "Available node-1", r.phase("web"))
	c.objects.change("web", func(*schedulingv1alpha1.Reservation) *schedulingv1alpha1.Reservation { return nil })
	until(t, "a reservation that is deleted holds nothing", 0, func() int64 { return r.requested("node-1") })
}

func TestAllocateOnceHasOneOwner(t *testing.T) {
	c := newCluster(newNode("node-1", "4"))
	c.objects.create(newReservation("web", "3", true))
	r := c.start(t, "")
	until(t, "the reservation is placed", "Available node-1", r.phase("web"))
	r.create(newPod("a", "web", "1"), newPod("b", "web", "1"), newPod("c", "web", "1"), newPod("d", "other", "1"))
	for _, name := range []string{"a", "b", "c", "d"} {
		until(t, name+" is placed: the rest of a used reservation is for everyone", true, func() bool { return r.placed(name) != "" })
	}
	users := 0
	for _, name := range []string{"a", "b", "c", "d"} {
		if r.placed(name) == "node-1/web" {
			users++
		}
	}
	if users != 1 {
		t.Errorf("%d pods use a reservation that may be used once", users)
	}
	until(t, "the reservation has ended", "Succeeded node-1", r.phase("web"))
	until(t, "nothing is held", 4000, func() int64 { return r.requested("node-1") })
}

// TestRestart stops a scheduler while a reservation is in use, and starts another.
func TestRestart(t *testing.T) {
	c := newCluster(newNode("node-1", "10"))
	c.objects.create(newReservation("web", "6", false))
	first := c.start(t, "")
	until(t, "the reservation is placed", "Available node-1", first.phase("web"))
	first.create(newPod("owner", "web", "4"))
	until(t, "an owner uses it", "node-1/web", first.placement("owner"))
	first.stop()
	first.create(newPod("stranger", "other", "5"), newPod("second", "web", "2"))
	second := c.start(t, "")
	until(t, "its owners find the rest of it", "node-1/web", second.placement("second"))
	until(t, "others do not", true, second.failed("stranger"))
	until(t, "nothing is counted twice", 6000, func() int64 { return second.requested("node-1") })
}

func TestOwnersFindTheirReservationAmongManyNodes(t *testing.T) {
	c := newCluster(newNode("node-1", "10"), newNode("node-2", "10"), newNode("node-3", "10"))
	r := newReservation("web", "6", false)
	r.Spec.Template.Spec.NodeName = "node-3"
	c.objects.create(r)
	started := c.start(t, "")
	until(t, "the reservation is placed where it says", "Available node-3", started.phase("web"))
	started.create(newPod("owner", "web", "1"))
	until(t, "an owner goes there", "node-3/web", started.placement("owner"))
	strict := newPod("strict", "other", "1")
	strict.Annotations = map[string]string{"scheduling.koordinator.sh/reservation-affinity": `{"name":"web"}`}
	started.create(strict)
	until(t, "a pod that must use a reservation, but is no owner, waits", true, started.failed("strict"))
}
