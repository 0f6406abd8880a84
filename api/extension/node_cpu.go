package extension

import (
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// AnnotationCPUNormalizationRatio says how much faster than the reference the CPUs of a node are: "1.20".
	AnnotationCPUNormalizationRatio = NodeDomainPrefix + "cpu-normalization-ratio"
	// LabelCPUNormalizationEnabled turns normalisation of a node on or off; it wins over the configuration.
	LabelCPUNormalizationEnabled = NodeDomainPrefix + "cpu-normalization-enabled"
	// AnnotationCPUBasicInfo describes the CPU model.
	AnnotationCPUBasicInfo = NodeDomainPrefix + "cpu-basic-info"
	// AnnotationNodeNetworkBandwidth is the bandwidth of a node.
	AnnotationNodeNetworkBandwidth = NodeDomainPrefix + "network-bandwidth"
	// AnnotationSystemQOSResource keeps CPUs for SYSTEM pods.
	AnnotationSystemQOSResource = NodeDomainPrefix + "system-qos-resource"
)

// CPUNormalizationRatio parses AnnotationCPUNormalizationRatio, nil when absent. Zero is an error.
func CPUNormalizationRatio(annotations map[string]string) (*float64, error) {
	value, ok := annotations[AnnotationCPUNormalizationRatio]
	if !ok {
		return nil, nil
	}
	ratio, err := parseRatio(value)
	if err == nil && ratio == 0 {
		err = fmt.Errorf("ratio is zero")
	}
	if err != nil {
		return nil, fmt.Errorf("parse annotation %q: %w", AnnotationCPUNormalizationRatio, err)
	}
	return &ratio, nil
}

// SetCPUNormalizationRatio writes AnnotationCPUNormalizationRatio with two decimals; nil removes it.
func SetCPUNormalizationRatio(obj metav1.Object, ratio *float64) {
	if ratio == nil {
		removeAnnotation(obj, AnnotationCPUNormalizationRatio)
		return
	}
	setAnnotation(obj, AnnotationCPUNormalizationRatio, FormatRatio(*ratio))
}

// IsCPUNormalizationEnabled parses LabelCPUNormalizationEnabled, nil when absent.
func IsCPUNormalizationEnabled(labels map[string]string) (*bool, error) {
	value, ok := labels[LabelCPUNormalizationEnabled]
	if !ok {
		return nil, nil
	}
	enabled, err := strconv.ParseBool(value)
	if err != nil {
		return nil, fmt.Errorf("parse label %q: %.40q is neither true nor false", LabelCPUNormalizationEnabled, value)
	}
	return &enabled, nil
}

// CPUBasicInfo describes the CPU model of a node.
type CPUBasicInfo struct {
	CPUModel           string `json:"cpuModel,omitempty"`
	HyperThreadEnabled bool   `json:"hyperThreadEnabled,omitempty"`
	TurboEnabled       bool   `json:"turboEnabled,omitempty"`
	CatL3CbmMask       string `json:"catL3CbmMask,omitempty"`
	VendorID           string `json:"vendorID,omitempty"`
}

// GetCPUBasicInfo decodes AnnotationCPUBasicInfo.
func GetCPUBasicInfo(annotations map[string]string) (*CPUBasicInfo, error) {
	return DecodeAnnotation[CPUBasicInfo](annotations, AnnotationCPUBasicInfo)
}

// SetCPUBasicInfo writes AnnotationCPUBasicInfo.
func SetCPUBasicInfo(obj metav1.Object, info *CPUBasicInfo) error {
	return EncodeAnnotation(obj, AnnotationCPUBasicInfo, info)
}

// SystemQOSResource keeps CPUs for SYSTEM pods.
type SystemQOSResource struct {
	// CPUSet is a Linux CPU list.
	CPUSet string `json:"cpuset,omitempty"`
	// CPUSetExclusive keeps all other pods off these CPUs; true when unset.
	CPUSetExclusive *bool `json:"cpusetExclusive,omitempty"`
}

// IsCPUSetExclusive reports whether other pods are kept off the CPUs.
func (r *SystemQOSResource) IsCPUSetExclusive() bool {
	return r.CPUSetExclusive == nil || *r.CPUSetExclusive
}

// GetSystemQOSResource decodes AnnotationSystemQOSResource and checks its CPU list.
func GetSystemQOSResource(annotations map[string]string) (*SystemQOSResource, error) {
	resource, err := DecodeAnnotation[SystemQOSResource](annotations, AnnotationSystemQOSResource)
	if resource == nil || err != nil {
		return nil, err
	}
	if _, err := ParseCPUList(resource.CPUSet); err != nil {
		return nil, fmt.Errorf("decode annotation %q: %w", AnnotationSystemQOSResource, err)
	}
	return resource, nil
}

// SetSystemQOSResource writes AnnotationSystemQOSResource.
func SetSystemQOSResource(obj metav1.Object, resource *SystemQOSResource) error {
	return EncodeAnnotation(obj, AnnotationSystemQOSResource, resource)
}
