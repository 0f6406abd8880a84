package objects

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// RememberPod fills in the pod of a snapshot that does not exist anymore, from the events and the PodMigrationJobs that name it, and is
// false where none does. Of several pods that had the name one after the other it is the last one, and the events of the others are left out.
func RememberPod(in *TimelineSnapshot, namespace, name string) bool {
	uid, known := lastOfName(in, namespace, name)
	if !known {
		return false
	}
	in.Pod = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: uid}}
	var own []corev1.Event
	for i := range in.Events {
		if refersTo(&in.Events[i].InvolvedObject, in.Pod) {
			own = append(own, in.Events[i])
		}
	}
	in.Events = own
	in.Pod.Spec.NodeName = nodeOfEvents(in.Pod, own)
	return true
}

// lastOfName is the UID of the last pod of that name that something tells of. It is empty where nobody gives one.
func lastOfName(in *TimelineSnapshot, namespace, name string) (uid types.UID, known bool) {
	var latest time.Time
	seen := func(ref *corev1.ObjectReference, at time.Time) {
		if ref == nil || ref.Namespace != namespace || ref.Name != name {
			return
		}
		if !known || at.After(latest) || at.Equal(latest) && uid == "" {
			uid, latest = ref.UID, at
		}
		known = true
	}
	for i := range in.Events {
		_, last, _ := occurrences(&in.Events[i])
		if first, _, _ := occurrences(&in.Events[i]); last.Before(first) {
			last = first
		}
		seen(&in.Events[i].InvolvedObject, last)
	}
	for i := range in.Jobs {
		job := &in.Jobs[i]
		seen(job.Spec.PodRef, job.CreationTimestamp.Time)
		seen(job.Status.PodRef, replacedAt(job))
	}
	return uid, known
}

// replacedAt is when a job was last known to have a replacement.
func replacedAt(job *schedulingv1alpha1.PodMigrationJob) time.Time {
	at := job.CreationTimestamp.Time
	for i := range job.Status.Conditions {
		if moment := job.Status.Conditions[i].LastTransitionTime.Time; moment.After(at) {
			at = moment
		}
	}
	return at
}

// nodeOfEvents is the node that a pod was bound to, by the event of the scheduler, or else by the host of the kubelet's; empty where none
// tells.
func nodeOfEvents(pod *corev1.Pod, events []corev1.Event) string {
	node := ""
	for i := range events {
		event := &events[i]
		bound, assigned := strings.CutPrefix(event.Message, "Successfully assigned "+pod.Namespace+"/"+pod.Name+" to ")
		switch {
		case event.Reason == eventScheduled && assigned:
			return bound
		case event.Source.Component == "kubelet" && event.Source.Host != "":
			node = event.Source.Host
		}
	}
	return node
}
