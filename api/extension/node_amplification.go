package extension

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// AnnotationNodeResourceAmplificationRatio are the factors, by resource, by which a node's allocatable is shown
	// larger than it is.
	AnnotationNodeResourceAmplificationRatio = NodeDomainPrefix + "resource-amplification-ratio"
	// AnnotationNodeRawAllocatable is the allocatable before amplification.
	AnnotationNodeRawAllocatable = NodeDomainPrefix + "raw-allocatable"
)

// Ratio is a factor with two decimals in JSON.
type Ratio float64

// MarshalJSON writes two decimals. Infinities and NaN are errors.
func (r Ratio) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(r)) || math.IsInf(float64(r), 0) {
		return nil, fmt.Errorf("ratio %v is not a number", float64(r))
	}
	return strconv.AppendFloat(nil, float64(r), 'f', 2, 64), nil
}

// UnmarshalJSON reads a number between 0 and 1000.
func (r *Ratio) UnmarshalJSON(data []byte) error {
	var number json.Number
	if err := json.Unmarshal(data, &number); err != nil {
		return err
	}
	if number == "" {
		return nil
	}
	ratio, err := parseRatio(number.String())
	*r = Ratio(ratio)
	return err
}

// GetNodeAmplificationRatios decodes AnnotationNodeResourceAmplificationRatio.
func GetNodeAmplificationRatios(annotations map[string]string) (map[corev1.ResourceName]Ratio, error) {
	return decodeOr[map[corev1.ResourceName]Ratio](annotations, AnnotationNodeResourceAmplificationRatio)
}

// SetNodeAmplificationRatios writes AnnotationNodeResourceAmplificationRatio; nil removes it.
func SetNodeAmplificationRatios(obj metav1.Object, ratios map[corev1.ResourceName]Ratio) error {
	if ratios == nil {
		removeAnnotation(obj, AnnotationNodeResourceAmplificationRatio)
		return nil
	}
	return EncodeAnnotation(obj, AnnotationNodeResourceAmplificationRatio, &ratios)
}

// GetNodeRawAllocatable decodes AnnotationNodeRawAllocatable.
func GetNodeRawAllocatable(annotations map[string]string) (corev1.ResourceList, error) {
	return decodeOr[corev1.ResourceList](annotations, AnnotationNodeRawAllocatable)
}

// SetNodeRawAllocatable writes AnnotationNodeRawAllocatable; nil removes it.
func SetNodeRawAllocatable(obj metav1.Object, allocatable corev1.ResourceList) error {
	if allocatable == nil {
		removeAnnotation(obj, AnnotationNodeRawAllocatable)
		return nil
	}
	return EncodeAnnotation(obj, AnnotationNodeRawAllocatable, &allocatable)
}
