package objects

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
)

// refuseBefore notes what Kubernetes itself refuses before the profiles.
func (a *Admission) refuseBefore(code finding.Code, message, hint string) {
	a.out.Findings = append(a.out.Findings, diagnosticsv1alpha1.Finding{
		Code: string(code), Severity: diagnosticsv1alpha1.SeverityError, Message: message, Hint: hint,
	})
}

// defaulted is the pod as Kubernetes hands it to admission: with its defaults of the fields that profiles and quotas go by, and with the
// priority of its class.
func (a *Admission) defaulted(given *corev1.Pod) *corev1.Pod {
	pod := given.DeepCopy()
	if pod.Spec.SchedulerName == "" {
		pod.Spec.SchedulerName = corev1.DefaultSchedulerName
	}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			requestLimits(&containers[i].Resources)
		}
	}
	a.resolvePriority(pod)
	return pod
}

// requestLimits requests what is limited and not requested.
func requestLimits(resources *corev1.ResourceRequirements) {
	for name, limit := range resources.Limits {
		if _, requested := resources.Requests[name]; requested {
			continue
		}
		if resources.Requests == nil {
			resources.Requests = corev1.ResourceList{}
		}
		resources.Requests[name] = limit.DeepCopy()
	}
}

// resolvePriority does what plugin Priority of the API server does: the class of the pod, or the default class, gives the priority.
func (a *Admission) resolvePriority(pod *corev1.Pod) {
	if a.in.Unread.PriorityClasses {
		return
	}
	given := pod.Spec.Priority
	at := slices.IndexFunc(a.in.PriorityClasses, func(c schedulingv1.PriorityClass) bool {
		if pod.Spec.PriorityClassName == "" {
			return c.GlobalDefault
		}
		return c.Name == pod.Spec.PriorityClassName
	})
	switch {
	case at >= 0:
		class := a.in.PriorityClasses[at]
		pod.Spec.PriorityClassName, pod.Spec.Priority = class.Name, &class.Value
		pod.Spec.PreemptionPolicy = class.PreemptionPolicy
	case pod.Spec.PriorityClassName != "":
		a.refuseBefore(finding.NotFound, fmt.Sprintf("no PriorityClass with name %s was found", pod.Spec.PriorityClassName), "kubectl get priorityclasses lists those that exist")
		return
	default:
		pod.Spec.Priority = new(int32)
	}
	if given != nil && *given != *pod.Spec.Priority {
		a.refuseBefore(finding.InvalidArgument, fmt.Sprintf("the integer value of priority (%d) must not be provided in pod spec; it is %d by the PriorityClass of the pod", *given, *pod.Spec.Priority),
			"set priorityClassName in place of priority")
	}
	if pod.Spec.PreemptionPolicy == nil {
		pod.Spec.PreemptionPolicy = new(corev1.PreemptLowerPriority)
	}
}
