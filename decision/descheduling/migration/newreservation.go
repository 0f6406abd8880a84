package migration

import (
	"maps"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

const (
	// LabelCreatedBy of a Reservation with the value CreatedBy shows that a PodMigrationJob created it.
	LabelCreatedBy = "app.kubernetes.io/created-by"
	// CreatedBy is the value of LabelCreatedBy.
	CreatedBy = "koord-descheduler"
	// outlives is how much longer than its job a Reservation lasts, so that a job that is too late ends for that reason, and releases it.
	outlives = 10 * time.Second
)

// NewReservation returns the Reservation that a job creates for the pod that replaces its pod, from the template of the job or, where that
// leaves something open, from the pod. Its name is the UID of the job, so that a second try finds the first one, and it is owned by the
// job, so that it goes with it.
func NewReservation(job *schedulingv1alpha1.PodMigrationJob, pod *corev1.Pod, args *Args, now time.Time) *schedulingv1alpha1.Reservation {
	out := &schedulingv1alpha1.Reservation{}
	if options := job.Spec.ReservationOptions; options != nil && options.Template != nil {
		out.ObjectMeta = metav1.ObjectMeta{Labels: maps.Clone(options.Template.Labels), Annotations: maps.Clone(options.Template.Annotations)}
		out.Spec = *options.Template.Spec.DeepCopy()
	}
	out.Name = string(job.UID)
	out.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: schedulingv1alpha1.GroupVersion.String(), Kind: "PodMigrationJob", Name: job.Name, UID: job.UID, Controller: new(true),
	}}
	if out.Labels == nil {
		out.Labels = map[string]string{}
	}
	out.Labels[LabelCreatedBy] = CreatedBy
	if out.Labels[extension.LabelReservationOrder] == "" {
		out.Labels[extension.LabelReservationOrder] = strconv.FormatInt(now.UnixMilli(), 10)
	}
	if out.Spec.Template == nil {
		out.Spec.Template = templateOf(pod)
	}
	limitPreemption(out, job, pod)
	requireNode(&out.Spec.Template.Spec, corev1.NodeSelectorOpNotIn, pod.Spec.NodeName)
	requireNode(&out.Spec.Template.Spec, corev1.NodeSelectorOpIn, job.Annotations[extension.AnnotationTargetNode])
	if len(out.Spec.Owners) == 0 {
		out.Spec.Owners = []schedulingv1alpha1.ReservationOwner{ownerOf(pod)}
	}
	if out.Spec.TTL == nil && out.Spec.Expires == nil {
		out.Spec.TTL = &metav1.Duration{Duration: TTLOf(job, args) + outlives}
	}
	out.Spec.AllocateOnce = new(true)
	return out
}

// limitPreemption lets no pod be evicted for a Reservation unless the job has preemptionOptions, and then none whose priority is not below
// that of the pod: without a priority of its own, a Reservation has the highest there is.
func limitPreemption(reservation *schedulingv1alpha1.Reservation, job *schedulingv1alpha1.PodMigrationJob, pod *corev1.Pod) {
	if options := job.Spec.ReservationOptions; options == nil || options.PreemptionOptions == nil {
		reservation.Spec.Template.Spec.PreemptionPolicy = new(corev1.PreemptNever)
		return
	}
	if reservation.Labels[extension.LabelPodPriority] == "" {
		var priority int32 // that of a cluster without PriorityClasses
		if pod.Spec.Priority != nil {
			priority = *pod.Spec.Priority
		}
		reservation.Labels[extension.LabelPodPriority] = strconv.Itoa(int(priority))
	}
}

// templateOf is the pod as it was before it was scheduled.
func templateOf(pod *corev1.Pod) *corev1.PodTemplateSpec {
	template := &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Labels: maps.Clone(pod.Labels), Annotations: maps.Clone(pod.Annotations)},
		Spec:       *pod.Spec.DeepCopy(),
	}
	for _, allocated := range []string{
		extension.AnnotationReservationAllocated, extension.AnnotationResourceStatus, extension.AnnotationDeviceAllocated, extension.AnnotationSoftEviction,
		extension.AnnotationSurge,
	} {
		delete(template.Annotations, allocated)
	}
	template.Spec.NodeName = ""
	return template
}

// requireNode excludes a node from where a pod may be placed (NotIn), or all others (In): it is one more requirement of each term, because
// terms are alternatives. A planned target is required and not preferred, because the plan counts on it: on another node the pod could be
// what overloads that node next. No node changes nothing.
func requireNode(spec *corev1.PodSpec, operator corev1.NodeSelectorOperator, node string) {
	if node == "" {
		return
	}
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{}
	}
	if spec.Affinity.NodeAffinity == nil {
		spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	affinity := spec.Affinity.NodeAffinity
	required := corev1.NodeSelectorRequirement{Key: metav1.ObjectNameField, Operator: operator, Values: []string{node}}
	if affinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		term := corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{required}}
		affinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term}}
		return
	}
	terms := affinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	for i := range terms {
		if len(terms[i].MatchFields) == 0 && len(terms[i].MatchExpressions) == 0 {
			continue // an empty term matches no node
		}
		terms[i].MatchFields = append(slices.Clip(terms[i].MatchFields), required)
	}
}

// ownerOf is the controller of the pod, or the pod itself when it has none or is still to be scheduled.
func ownerOf(pod *corev1.Pod) schedulingv1alpha1.ReservationOwner {
	controller := metav1.GetControllerOfNoCopy(pod)
	if controller == nil || pod.Spec.NodeName == "" {
		return schedulingv1alpha1.ReservationOwner{Object: &corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}}
	}
	return schedulingv1alpha1.ReservationOwner{Controller: &schedulingv1alpha1.ReservationControllerReference{
		OwnerReference: metav1.OwnerReference{APIVersion: controller.APIVersion, Kind: controller.Kind, Name: controller.Name, UID: controller.UID, Controller: new(true)},
		Namespace:      pod.Namespace,
	}}
}
