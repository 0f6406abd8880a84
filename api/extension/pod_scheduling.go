package extension

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Labels and annotations of pods that steer scheduling and admission.
const (
	// LabelSchedulerName overrides spec.schedulerName inside upstream's scheduler. No component reads it yet.
	LabelSchedulerName = SchedulingDomainPrefix + "scheduler-name"
	// LabelPodOperatingMode turns a pod into a reservation ("Reservation").
	LabelPodOperatingMode = SchedulingDomainPrefix + "operating-mode"
	// LabelPodPreemptionPolicy overrides spec.preemptionPolicy in upstream's scheduler: Never or PreemptLowerPriority. No component
	// reads it yet.
	LabelPodPreemptionPolicy = SchedulingDomainPrefix + "preemption-policy"
	// LabelDisablePreemptible keeps the pod from being a victim when it is "true".
	LabelDisablePreemptible = SchedulingDomainPrefix + "disable-preemptible"
	// LabelQuestionedObjectKey marks pods a ScheduleExplanation asks about.
	LabelQuestionedObjectKey = SchedulingDomainPrefix + "questioned-object-key"
	// LabelTopologyKeyToExplain is the node label by whose values an explanation is split.
	LabelTopologyKeyToExplain = SchedulingDomainPrefix + "topology-key-to-explain"
	// LabelBindingAdmissionBypass lets anyone bind the pod where upstream's webhook guards bindings. No component reads it yet.
	LabelBindingAdmissionBypass = DomainPrefix + "binding-admission-bypass"
	// LabelPodMutatingUpdate asks upstream's webhook to apply profiles to updates of the pod too. No component reads it yet.
	LabelPodMutatingUpdate = PodDomainPrefix + "mutating-update"
	// LabelPodSkipEnhancedValidation opts the pod out of upstream's label validator. No component reads it yet.
	LabelPodSkipEnhancedValidation = PodDomainPrefix + "skip-enhanced-validation"

	// AnnotationSchedulingHint proposes nodes to the scheduler.
	AnnotationSchedulingHint = InternalSchedulingDomainPrefix + "scheduling-hint"
	// DeprecatedAnnotationSchedulingHint is read when AnnotationSchedulingHint is absent.
	DeprecatedAnnotationSchedulingHint = SchedulingDomainPrefix + "scheduling-hint"
	// AnnotationOriginalSchedulerName is where upstream keeps spec.schedulerName from before it was overridden. No component reads it yet.
	AnnotationOriginalSchedulerName = InternalSchedulingDomainPrefix + "original-scheduler-name"
	// AnnotationNetworkTopologySelector restricts the pod to a part of the network in upstream's scheduler. No component reads it yet.
	AnnotationNetworkTopologySelector = SchedulingDomainPrefix + "network-topology-selector"
	// AnnotationBindTimestamp is when the pod was bound, in nanoseconds since 1970, for device plugins.
	AnnotationBindTimestamp = SchedulingDomainPrefix + "bind-timestamp"
)

// Keys of a ClusterColocationProfile.
const (
	// LabelProfileControllerManaged applies the profile to pods that exist already when it is "true".
	LabelProfileControllerManaged = ConfigDomainPrefix + "controller-managed"
	// AnnotationSkipUpdateResources leaves the resources of matched pods alone.
	AnnotationSkipUpdateResources = ConfigDomainPrefix + "skip-update-resources"
)

// PodOperatingMode is the value of LabelPodOperatingMode.
type PodOperatingMode string

const (
	// PodOperatingModeRunnable is an ordinary pod; the default.
	PodOperatingModeRunnable PodOperatingMode = "Runnable"
	// PodOperatingModeReservation holds room for other pods.
	PodOperatingModeReservation PodOperatingMode = "Reservation"
)

// PodSchedulerName returns the scheduler of a pod as upstream's scheduler sees it: LabelSchedulerName, else spec.schedulerName.
func PodSchedulerName(pod *corev1.Pod) string {
	if name, ok := pod.Labels[LabelSchedulerName]; ok {
		return name
	}
	return pod.Spec.SchedulerName
}

// PodPreemptionPolicy returns the policy in LabelPodPreemptionPolicy, nil when absent or unknown.
func PodPreemptionPolicy(labels map[string]string) *corev1.PreemptionPolicy {
	switch policy := corev1.PreemptionPolicy(labels[LabelPodPreemptionPolicy]); policy {
	case corev1.PreemptNever, corev1.PreemptLowerPriority:
		return &policy
	}
	return nil
}

// IsPodPreemptible reports whether the pod may be a victim of preemption for a reservation.
func IsPodPreemptible(labels map[string]string) bool {
	return labels[LabelDisablePreemptible] != "true"
}

// IsReservationOperatingMode reports whether the pod is a reservation.
func IsReservationOperatingMode(labels map[string]string) bool {
	return labels[LabelPodOperatingMode] == string(PodOperatingModeReservation)
}

// SchedulingHint proposes nodes to the scheduler.
type SchedulingHint struct {
	// NodeNames are the only nodes to consider.
	NodeNames []string `json:"nodeNames,omitempty"`
	// PreferredNodeNames are tried first, in order.
	PreferredNodeNames []string `json:"preferredNodeNames,omitempty"`
	// Extensions are for single plugins.
	Extensions map[string]json.RawMessage `json:"extensions,omitempty"`
}

// GetSchedulingHint decodes AnnotationSchedulingHint, or its deprecated twin.
func GetSchedulingHint(annotations map[string]string) (*SchedulingHint, error) {
	key := AnnotationSchedulingHint
	if annotations[key] == "" {
		key = DeprecatedAnnotationSchedulingHint
	}
	return DecodeAnnotation[SchedulingHint](annotations, key)
}

// SetSchedulingHint writes AnnotationSchedulingHint.
func SetSchedulingHint(obj metav1.Object, hint *SchedulingHint) error {
	return EncodeAnnotation(obj, AnnotationSchedulingHint, hint)
}
