package invariants

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// reservationVersion is a reservation from some moment on, until the next version.
type reservationVersion struct {
	since  time.Time
	found  bool
	object *schedulingv1alpha1.Reservation
}

func (w *Watcher) reservationChanged(name types.NamespacedName, before, after metav1.Object) {
	delete(w.reservations, name.Name)
	if reservation, there := after.(*schedulingv1alpha1.Reservation); there {
		w.reservations[name.Name] = reservation
		w.reserved[reservation.UID] = append(w.reserved[reservation.UID], reservationVersion{since: w.now(), found: !w.allSynced(), object: reservation})
	}
	for _, object := range []metav1.Object{before, after} {
		if reservation, there := object.(*schedulingv1alpha1.Reservation); there && reservation.Status.NodeName != "" {
			w.renew(reservation.Status.NodeName)
		}
	}
}

// blind reports whether the events of a kind around a moment may be missing.
func (w *Watcher) blind(resource string, at time.Time) bool {
	return slices.ContainsFunc(w.streams, func(s *stream) bool { return s.kind.resource.Resource == resource && s.blind(at) })
}

// checkUsed compares the owners of a pod's reservation with how often it may be used, in the latest version of the
// reservation, which may have ended, or be gone.
func (w *Watcher) checkUsed(pod *corev1.Pod) {
	versions := w.reserved[usedBy(pod)]
	if len(versions) > 0 {
		w.report(pod.ResourceVersion, UsedOnce(versions[len(versions)-1].object, slices.Collect(maps.Values(w.pods))))
	}
}

// checkUse checks a pod that was bound with room of a reservation, against the versions of the reservation that were in force
// within Window of that. Pods that are reservations themselves are not followed, nor are reservations during an outage.
func (w *Watcher) checkUse(pod *corev1.Pod) {
	uid := usedBy(pod)
	if uid == "" {
		return
	}
	w.seen.Reserved++
	w.suspects = append(w.suspects, suspect{at: w.now(), revision: pod.ResourceVersion, judge: func(s suspect) []Violation {
		versions := w.reserved[uid]
		if w.blind("reservations", s.at) {
			return nil
		}
		if len(versions) == 0 {
			if slices.ContainsFunc(slices.Collect(maps.Values(w.pods)), func(other *corev1.Pod) bool { return other.UID == uid }) {
				return nil
			}
			out := &found{invariant: ReservationWithinAllocated, subject: "pod " + nameOf(pod)}
			out.add("it uses reservation %s, which does not exist", uid)
			return revised(out.list, s.revision)
		}
		var violations []Violation
		for i, version := range versions {
			next := nextOf(versions, i, func(v reservationVersion) time.Time { return v.since })
			if !inForce(s.at, version.since, next) {
				continue
			}
			if violations = MayUse(pod, version.object); len(violations) == 0 || version.found && s.at.Sub(version.since) < Window {
				return nil
			}
		}
		return revised(violations, s.revision)
	}})
}
