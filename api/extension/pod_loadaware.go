package extension

import (
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
)

const (
	// AnnotationEstimatedScalingFactors are percentages by plain resource name: how much of its request a pod is
	// expected to use.
	AnnotationEstimatedScalingFactors = SchedulingDomainPrefix + "load-estimated-scaling-factors"
	// AnnotationEstimatedSecondsAfterPodScheduled is how long the estimate counts after scheduling.
	AnnotationEstimatedSecondsAfterPodScheduled = SchedulingDomainPrefix + "load-estimated-seconds-after-pod-scheduled"
	// AnnotationEstimatedSecondsAfterInitialized is how long the estimate counts after initialisation.
	AnnotationEstimatedSecondsAfterInitialized = SchedulingDomainPrefix + "load-estimated-seconds-after-initialized"
)

// GetEstimatedScalingFactors decodes AnnotationEstimatedScalingFactors. Negative factors are an error.
func GetEstimatedScalingFactors(annotations map[string]string) (map[corev1.ResourceName]int64, error) {
	factors, err := decodeOr[map[corev1.ResourceName]int64](annotations, AnnotationEstimatedScalingFactors)
	if err != nil {
		return nil, err
	}
	for name, factor := range factors {
		if factor < 0 {
			return nil, fmt.Errorf("decode annotation %q: factor %d of %.80q is negative", AnnotationEstimatedScalingFactors, factor, name)
		}
	}
	return factors, nil
}

// EstimatedAfterPodScheduled parses AnnotationEstimatedSecondsAfterPodScheduled, nil when absent.
func EstimatedAfterPodScheduled(annotations map[string]string) (*time.Duration, error) {
	return secondsAnnotation(annotations, AnnotationEstimatedSecondsAfterPodScheduled)
}

// EstimatedAfterInitialized parses AnnotationEstimatedSecondsAfterInitialized, nil when absent.
func EstimatedAfterInitialized(annotations map[string]string) (*time.Duration, error) {
	return secondsAnnotation(annotations, AnnotationEstimatedSecondsAfterInitialized)
}

// maxSeconds keeps a number of seconds within time.Duration, about 292 years.
const maxSeconds = int64(1<<63-1) / int64(time.Second)

func secondsAnnotation(annotations map[string]string, key string) (*time.Duration, error) {
	value := annotations[key]
	if value == "" {
		return nil, nil
	}
	seconds, err := strconv.ParseInt(value, 10, 64)
	if err != nil || seconds < 0 || seconds > maxSeconds {
		return nil, fmt.Errorf("parse annotation %q: %.40q is not a number of seconds", key, value)
	}
	return new(time.Duration(seconds) * time.Second), nil
}
