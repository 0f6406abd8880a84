package explain

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	decision "koordinator.sh/koord/decision/scheduling/reservation"
)

// Hold implements reservations.Holder: reserve pods stand in the scheduler's cache. One that goes may not be there.
func (c *cluster) Hold(before, after *corev1.Pod) {
	if before != nil {
		if _, err := c.scheduler.Cache.GetPod(before); err != nil {
			before = nil
		}
	}
	if before != nil {
		c.must(c.scheduler.Cache.RemovePod(klog.Background(), before))
	}
	if after != nil {
		c.must(c.scheduler.Cache.AddPod(klog.Background(), after))
	}
}

// addReservation takes over a Reservation, also in the place of one with its name.
func (c *cluster) addReservation(object *schedulingv1alpha1.Reservation) {
	c.must(c.shared.reserved.Informer().GetIndexer().Add(object))
	c.shared.reservationEvents.OnAdd(object, false)
}

// endReservation deletes one.
func (c *cluster) endReservation(name string) {
	object, found := c.shared.reserved.Get(name)
	if !found {
		return
	}
	c.must(c.shared.reserved.Informer().GetIndexer().Delete(object))
	c.shared.reservationEvents.OnDelete(object)
}

// newReservation is pending, for pods that are labelled as owners of its name.
func newReservation(name string, pairs ...string) *schedulingv1alpha1.Reservation {
	object := &schedulingv1alpha1.Reservation{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{}, Annotations: map[string]string{}}}
	object.Spec.Template = &corev1.PodTemplateSpec{Spec: newPod(name, pairs...).Spec}
	object.Spec.Template.Namespace, object.Spec.Template.Spec.Priority = "default", nil
	object.Spec.Owners = []schedulingv1alpha1.ReservationOwner{{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"owns": name}}}}
	object.Spec.AllocateOnce = new(false)
	return object
}

// available places a Reservation on a node.
func available(node int, object *schedulingv1alpha1.Reservation) *schedulingv1alpha1.Reservation {
	object.Status.NodeName, object.Status.Phase = fmt.Sprintf("node-%d", node), schedulingv1alpha1.ReservationAvailable
	object.Status.Allocatable = decision.RequestsOf(&corev1.Pod{Spec: object.Spec.Template.Spec}).List()
	return object
}

// using makes a pod a user of a reservation.
func using(name string, pod *corev1.Pod) *corev1.Pod {
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	encoded, err := json.Marshal(extension.ReservationAllocated{Name: name, UID: types.UID("uid-" + name)})
	if err != nil {
		panic(err)
	}
	pod.Labels["owns"], pod.Annotations[extension.AnnotationReservationAllocated] = name, string(encoded)
	return pod
}

// drawReservations reserves room on some nodes, of which pods that are there use a part.
func (c *cluster) drawReservations(t *rapid.T, nodes int) {
	for i := range nodes {
		if rapid.IntRange(0, 2).Draw(t, "reserves") > 0 {
			continue
		}
		object := available(i, newReservation(fmt.Sprint("r-", i), "cpu", fmt.Sprint(rapid.IntRange(2, 10).Draw(t, "cpu reserved")), "memory", "4Gi"))
		object.Spec.AllocatePolicy = rapid.SampledFrom([]schedulingv1alpha1.ReservationAllocatePolicy{
			schedulingv1alpha1.ReservationAllocatePolicyAligned, schedulingv1alpha1.ReservationAllocatePolicyRestricted,
		}).Draw(t, "allocate policy")
		// Whoever owns one reservation owns them all.
		object.Spec.Owners[0].LabelSelector.MatchLabels = map[string]string{"owns": "reserved"}
		if rapid.IntRange(0, 3).Draw(t, "has a priority") == 0 {
			object.Labels[extension.LabelPodPriority] = "100"
		}
		c.addReservation(object)
		for j := range rapid.IntRange(0, 2).Draw(t, "users") {
			user := using(object.Name, on(i, newPod(fmt.Sprintf("u-%d-%d", i, j), "cpu", fmt.Sprint(rapid.IntRange(1, 4).Draw(t, "cpu used")))))
			user.Spec.Priority = new(rapid.SampledFrom([]int32{100, 9500, 9900}).Draw(t, "priority of a user"))
			c.addPod(user)
		}
	}
}

// drawOwner makes a pod an owner of reservations, which may have to use one.
func drawOwner(t *rapid.T, pod *corev1.Pod) {
	if rapid.IntRange(0, 2).Draw(t, "owns") > 0 {
		return
	}
	pod.Labels["owns"] = "reserved"
	switch rapid.SampledFrom([]string{"any", "named", "required", "exact", "ignores"}).Draw(t, "wish") {
	case "named":
		pod.Annotations[extension.AnnotationReservationAffinity] = rapid.SampledFrom([]string{`{"name":"r-0"}`, `{"name":"r-9"}`, `{"name":`}).Draw(t, "reservation named")
	case "required":
		pod.Annotations[extension.AnnotationReservationAffinity] = `{"requiredDuringSchedulingIgnoredDuringExecution":{"reservationSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"NotIn","values":["r-1"]}]}]}}`
	case "exact":
		pod.Annotations[extension.AnnotationReservationAffinity] = `{"requiredDuringSchedulingIgnoredDuringExecution":{"reservationSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"NotIn","values":["r-9"]}]}]}}`
		pod.Annotations[extension.AnnotationExactMatchReservation] = `{"resourceNames":["cpu"]}`
	case "ignores":
		pod.Labels[extension.LabelReservationIgnored] = "true"
	}
}
