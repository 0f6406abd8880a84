package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
)

// PodCPUBurst decodes the cpuBurst annotation of a pod, nil when absent.
func PodCPUBurst(annotations map[string]string) (*CPUBurstConfig, error) {
	return extension.DecodeAnnotation[CPUBurstConfig](annotations, extension.AnnotationPodCPUBurst)
}

// SetPodCPUBurst writes the cpuBurst annotation; nil removes it.
func SetPodCPUBurst(obj metav1.Object, config *CPUBurstConfig) error {
	return extension.EncodeAnnotation(obj, extension.AnnotationPodCPUBurst, config)
}

// PodCPUQOS decodes the cpuQOS annotation of a pod, nil when absent.
func PodCPUQOS(annotations map[string]string) (*CPUQOS, error) {
	return extension.DecodeAnnotation[CPUQOS](annotations, extension.AnnotationPodCPUQOS)
}

// PodMemoryQOS decodes the memoryQOS annotation of a pod, nil when absent.
func PodMemoryQOS(annotations map[string]string) (*PodMemoryQOSConfig, error) {
	return extension.DecodeAnnotation[PodMemoryQOSConfig](annotations, extension.AnnotationPodMemoryQOS)
}

// SetPodMemoryQOS writes the memoryQOS annotation; nil removes it.
func SetPodMemoryQOS(obj metav1.Object, config *PodMemoryQOSConfig) error {
	return extension.EncodeAnnotation(obj, extension.AnnotationPodMemoryQOS, config)
}

// PodBlkIOQOS decodes the blkioQOS annotation of a pod, nil when absent.
func PodBlkIOQOS(annotations map[string]string) (*BlkIOQOS, error) {
	return extension.DecodeAnnotation[BlkIOQOS](annotations, extension.AnnotationPodBlkioQOS)
}
