package explain

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/core/kubectl"
	decision "koordinator.sh/koord/decision/scheduling/reservation"
	"koordinator.sh/koord/scheduler/part"
	"koordinator.sh/koord/scheduler/reservepods"
)

// errNoReservations is why a question about a Reservation has no answer.
var errNoReservations = errors.New("reservations are not enabled in this scheduler")

// reservationLister knows the Reservations of the cluster.
type reservationLister interface {
	Get(name string) (*schedulingv1alpha1.Reservation, bool)
	// UserCount is the number of pods that use an active one.
	UserCount(uid types.UID) int
}

// reservePod is the pod that is scheduled for a Reservation. For a Reservation that no longer looks for a node, the answer is
// complete, and there is no pod.
func (e *Engine) reservePod(name string) (*corev1.Pod, *diagnosticsv1alpha1.PodExplanationStatus, error) {
	reservations, enabled := part.Find[reservationLister](e.config.Parts)
	if !enabled {
		return nil, nil, errNoReservations
	}
	object, found := reservations.Get(name)
	if !found {
		return nil, nil, apierrors.NewNotFound(schedulingv1alpha1.GroupVersion.WithResource("reservations").GroupResource(), name)
	}
	pod := decision.ReservePod(object, reservepods.DefaultProfile(e.config.Profiles), false)
	if decision.Pending(object) {
		return pod, nil, nil
	}
	status := &diagnosticsv1alpha1.PodExplanationStatus{Pod: factsOf(pod, e.simulations[pod.Spec.SchedulerName], e.config.Now())}
	if decision.Active(object) {
		status.Verdict, status.Pod.NodeName = diagnosticsv1alpha1.PodBound, object.Status.NodeName
		status.Summary = fmt.Sprintf("available on %s%s", object.Status.NodeName, usageOf(reservations.UserCount(object.UID)))
		return nil, status, nil
	}
	status.Verdict, status.Summary = diagnosticsv1alpha1.PodFinished, "the reservation has failed"
	if object.Status.Phase == schedulingv1alpha1.ReservationSucceeded {
		status.Summary = "the reservation has succeeded"
	}
	return nil, status, nil
}

// usageOf says how many pods use a reservation.
func usageOf(users int) string {
	switch users {
	case 0:
		return ", not used by any pod"
	case 1:
		return ", used by 1 pod"
	}
	return fmt.Sprintf(", used by %d pods", users)
}

// ofTemplate makes proposals for a reserve pod ones for the Reservation that it stands for: pods as they are in its template.
func ofTemplate(pod *corev1.Pod, list []candidate) []candidate {
	if !decision.IsReservePod(pod) {
		return list
	}
	for i := range list {
		if list[i].pod != nil {
			list[i].fix.Description = "in the template of the reservation, " + list[i].fix.Description
			list[i].fix.Steps = []diagnosticsv1alpha1.FixStep{kubectl.Edit(kubectl.Reservation(decision.NameOf(pod)))}
		}
	}
	return list
}

// subject is what a question is about; without a pod, the status is its answer.
func (e *Engine) subject(ctx context.Context, question *diagnosticsv1alpha1.PodExplanation) (*corev1.Pod, *diagnosticsv1alpha1.PodExplanationStatus, error) {
	if name := question.Spec.ReservationName; name != "" {
		return e.reservePod(name)
	}
	pod, err := e.pod(ctx, question.Namespace, question.Spec.PodName)
	return pod, nil, err
}
