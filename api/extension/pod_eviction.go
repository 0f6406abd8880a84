package extension

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// LabelPodEvictEnabled must be "true" for the node agent to evict pods above best effort.
	LabelPodEvictEnabled = DomainPrefix + "eviction-enabled"
	// AnnotationPodEvictPolicy is a JSON list of the node-agent features that may evict the pod.
	AnnotationPodEvictPolicy = DomainPrefix + "eviction-policy"
	// AnnotationPodEvictionPriority orders victims: a 32-bit integer, lower goes first, 0 by default.
	AnnotationPodEvictionPriority = DomainPrefix + "eviction-priority"
	// AnnotationEvictionCost orders pods for the descheduler: a 32-bit integer, lower goes first, 0 by default. Pods with
	// EvictionCostNever are never migrated.
	AnnotationEvictionCost = SchedulingDomainPrefix + "eviction-cost"
	// AnnotationSoftEviction asks for the eviction of the pod and leaves the time to the component that runs it. koord-descheduler writes it where
	// the policy is SoftEviction.
	AnnotationSoftEviction = SchedulingDomainPrefix + "soft-eviction"
	// AnnotationOOMScoreAdj is the oom_score_adj of all processes of the pod, -1000 to 1000.
	AnnotationOOMScoreAdj = DomainPrefix + "oom-score-adj"
	// AnnotationOOMScoreAdjSpec is oom_score_adj by container; it wins over AnnotationOOMScoreAdj.
	AnnotationOOMScoreAdjSpec = DomainPrefix + "oom-score-adj-spec"
)

// EvictionCostNever is the eviction cost of pods that are never migrated.
const EvictionCostNever int32 = math.MaxInt32

// IsPodEvictEnabled reports whether the pod allows the node agent to evict it above best effort.
func IsPodEvictEnabled(labels map[string]string) bool {
	return labels[LabelPodEvictEnabled] == "true"
}

// IsEvictionAllowed reports whether a node-agent feature may evict the pod. Without AnnotationPodEvictPolicy every
// feature may; with one that cannot be decoded none may, and the error says so.
func IsEvictionAllowed(annotations map[string]string, feature string) (bool, error) {
	if _, ok := annotations[AnnotationPodEvictPolicy]; !ok {
		return true, nil
	}
	var features []string
	if err := DecodeJSON(annotations[AnnotationPodEvictPolicy], MaxAnnotationBytes, &features); err != nil {
		return false, fmt.Errorf("decode annotation %q: %w", AnnotationPodEvictPolicy, err)
	}
	return slices.Contains(features, feature), nil
}

// SetEvictionPolicy writes AnnotationPodEvictPolicy; nil removes it, so that every feature may evict.
func SetEvictionPolicy(obj metav1.Object, features []string) error {
	if features == nil {
		removeAnnotation(obj, AnnotationPodEvictPolicy)
		return nil
	}
	return EncodeAnnotation(obj, AnnotationPodEvictPolicy, &features)
}

// EvictionPriority parses AnnotationPodEvictionPriority; 0 when absent, and 0 with an error when invalid.
func EvictionPriority(annotations map[string]string) (int32, error) {
	return int32Annotation(annotations, AnnotationPodEvictionPriority, 0)
}

// EvictionCost parses AnnotationEvictionCost; 0 when absent, and 0 with an error when invalid. Values with a sign or
// zeros in front are invalid.
func EvictionCost(annotations map[string]string) (int32, error) {
	cost, err := int32Annotation(annotations, AnnotationEvictionCost, 0)
	if err != nil {
		return 0, err
	}
	if value := annotations[AnnotationEvictionCost]; value != "" && strconv.Itoa(int(cost)) != value {
		return 0, fmt.Errorf("parse annotation %q: %.40q is not in canonical form", AnnotationEvictionCost, value)
	}
	return cost, nil
}

// SoftEvictionSpec is a request to evict a pod, left to the pod's own controller.
type SoftEvictionSpec struct {
	// Timestamp of the request.
	Timestamp *metav1.Time `json:"timestamp,omitempty"`
	// DeleteOptions for the deletion.
	DeleteOptions *metav1.DeleteOptions `json:"deleteOptions,omitempty"`
	// Initiator asked.
	Initiator string `json:"initiator,omitempty"`
	// Reason for people.
	Reason string `json:"reason,omitempty"`
}

// GetSoftEvictionSpec decodes AnnotationSoftEviction.
func GetSoftEvictionSpec(annotations map[string]string) (*SoftEvictionSpec, error) {
	return DecodeAnnotation[SoftEvictionSpec](annotations, AnnotationSoftEviction)
}

// SetSoftEvictionSpec writes AnnotationSoftEviction.
func SetSoftEvictionSpec(obj metav1.Object, spec *SoftEvictionSpec) error {
	return EncodeAnnotation(obj, AnnotationSoftEviction, spec)
}

// OOMScoreAdj returns the oom_score_adj wanted for a container, nil when none is.
func OOMScoreAdj(annotations map[string]string, container string) (*int64, error) {
	byContainer, err := decodeOr[map[string]int64](annotations, AnnotationOOMScoreAdjSpec)
	if err != nil {
		return nil, err
	}
	score, ok := byContainer[container]
	key := AnnotationOOMScoreAdjSpec
	if !ok {
		key = AnnotationOOMScoreAdj
		value := annotations[key]
		if value == "" {
			return nil, nil
		}
		if score, err = strconv.ParseInt(value, 10, 64); err != nil {
			return nil, fmt.Errorf("parse annotation %q: %.40q is not an integer", key, value)
		}
	}
	if score < -1000 || score > 1000 {
		return nil, fmt.Errorf("parse annotation %q: %d is not between -1000 and 1000", key, score)
	}
	return &score, nil
}
