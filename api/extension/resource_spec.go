package extension

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// AnnotationExtendedResourceSpec repeats the batch and mid resources of a pod's containers, for node components
	// that see no pod spec.
	AnnotationExtendedResourceSpec = NodeDomainPrefix + "extended-resource-spec"
	// AnnotationPodReplaceResources renames or drops requested resources in upstream's scheduler: "a:b,c:" requests b for a and drops
	// c. No component reads it yet.
	AnnotationPodReplaceResources = PodDomainPrefix + "replace-resources"
)

// ExtendedResourceSpec lists extended resources by container.
type ExtendedResourceSpec struct {
	Containers map[string]ExtendedResourceContainerSpec `json:"containers,omitempty"`
}

// ExtendedResourceContainerSpec are the extended resources of one container.
type ExtendedResourceContainerSpec struct {
	Limits   corev1.ResourceList `json:"limits,omitempty"`
	Requests corev1.ResourceList `json:"requests,omitempty"`
}

// GetExtendedResourceSpec decodes AnnotationExtendedResourceSpec.
func GetExtendedResourceSpec(annotations map[string]string) (*ExtendedResourceSpec, error) {
	return DecodeAnnotation[ExtendedResourceSpec](annotations, AnnotationExtendedResourceSpec)
}

// SetExtendedResourceSpec writes AnnotationExtendedResourceSpec.
func SetExtendedResourceSpec(obj metav1.Object, spec *ExtendedResourceSpec) error {
	return EncodeAnnotation(obj, AnnotationExtendedResourceSpec, spec)
}

// ResourceReplacement requests To in place of From; an empty To drops the request.
type ResourceReplacement struct {
	From corev1.ResourceName `json:"from"`
	To   corev1.ResourceName `json:"to,omitempty"`
}

// GetPodReplaceResources parses AnnotationPodReplaceResources, in the order written.
func GetPodReplaceResources(annotations map[string]string) ([]ResourceReplacement, error) {
	value := annotations[AnnotationPodReplaceResources]
	if value == "" {
		return nil, nil
	}
	if len(value) > MaxAnnotationBytes {
		return nil, fmt.Errorf("parse annotation %q: %d bytes exceed the limit of %d",
			AnnotationPodReplaceResources, len(value), MaxAnnotationBytes)
	}
	var replacements []ResourceReplacement
	for pair := range strings.SplitSeq(value, ",") {
		from, to, ok := strings.Cut(pair, ":")
		from, to = strings.TrimSpace(from), strings.TrimSpace(to)
		if !ok || from == "" || strings.Contains(to, ":") {
			return nil, fmt.Errorf("parse annotation %q: %.80q is not of the form from:to", AnnotationPodReplaceResources, pair)
		}
		replacements = append(replacements, ResourceReplacement{From: corev1.ResourceName(from), To: corev1.ResourceName(to)})
	}
	return replacements, nil
}

// SetPodReplaceResources writes AnnotationPodReplaceResources; none removes it.
func SetPodReplaceResources(obj metav1.Object, replacements []ResourceReplacement) {
	if len(replacements) == 0 {
		removeAnnotation(obj, AnnotationPodReplaceResources)
		return
	}
	pairs := make([]string, 0, len(replacements))
	for _, r := range replacements {
		pairs = append(pairs, string(r.From)+":"+string(r.To))
	}
	setAnnotation(obj, AnnotationPodReplaceResources, strings.Join(pairs, ","))
}
