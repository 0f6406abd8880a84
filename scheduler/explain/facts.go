package explain

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	decision "koordinator.sh/koord/decision/scheduling/reservation"
	"koordinator.sh/koord/decision/scheduling/schedulinghint"
)

// factsOf repeats what the scheduler goes by.
func factsOf(pod *corev1.Pod, sim *simulation, now time.Time) diagnosticsv1alpha1.PodFacts {
	facts := diagnosticsv1alpha1.PodFacts{
		ReservationName: decision.NameOf(pod),
		Namespace:       pod.Namespace, Name: pod.Name, Phase: pod.Status.Phase,
		QoSClass:      string(extension.PodQoSClassWithDefault(pod)),
		PriorityBand:  string(extension.PodPriorityClassWithDefault(pod)),
		Priority:      pod.Spec.Priority,
		SchedulerName: pod.Spec.SchedulerName,
		Requests:      resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{}),
		Hint:          schedulinghint.Explain(pod, now),
	}
	if !pod.CreationTimestamp.IsZero() {
		facts.CreatedAt = &pod.CreationTimestamp
	}
	if sim != nil && sim.estimator != nil {
		facts.EstimatedUsage = sim.estimator.EstimatedUsage(pod)
	}
	return facts
}
