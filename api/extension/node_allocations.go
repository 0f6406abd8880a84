package extension

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// AnnotationNodeThirdPartyAllocations is what other schedulers, such as YARN's, took of the batch resources.
	AnnotationNodeThirdPartyAllocations = NodeDomainPrefix + "thirdPartyAllocations"
	// AnnotationNodeOriginExtendedAllocatable is the batch and mid resources before third-party allocations.
	AnnotationNodeOriginExtendedAllocatable = NodeDomainPrefix + "originExtendedAllocatable"
)

// ThirdPartyAllocations lists what other schedulers took.
type ThirdPartyAllocations struct {
	Allocations []ThirdPartyAllocation `json:"allocations,omitempty"`
}

// ThirdPartyAllocation is what one scheduler took from one class.
type ThirdPartyAllocation struct {
	Name      string              `json:"name"`
	Priority  PriorityClass       `json:"priority"`
	Resources corev1.ResourceList `json:"resources,omitempty"`
}

// OriginAllocatable is an amount before third-party allocations.
type OriginAllocatable struct {
	Resources corev1.ResourceList `json:"resources,omitempty"`
}

// GetThirdPartyAllocations decodes AnnotationNodeThirdPartyAllocations.
func GetThirdPartyAllocations(annotations map[string]string) (*ThirdPartyAllocations, error) {
	return DecodeAnnotation[ThirdPartyAllocations](annotations, AnnotationNodeThirdPartyAllocations)
}

// SetThirdPartyAllocations writes AnnotationNodeThirdPartyAllocations.
func SetThirdPartyAllocations(obj metav1.Object, allocations *ThirdPartyAllocations) error {
	return EncodeAnnotation(obj, AnnotationNodeThirdPartyAllocations, allocations)
}

// GetOriginExtendedAllocatable decodes AnnotationNodeOriginExtendedAllocatable.
func GetOriginExtendedAllocatable(annotations map[string]string) (*OriginAllocatable, error) {
	return DecodeAnnotation[OriginAllocatable](annotations, AnnotationNodeOriginExtendedAllocatable)
}

// SetOriginExtendedAllocatable writes AnnotationNodeOriginExtendedAllocatable.
func SetOriginExtendedAllocatable(obj metav1.Object, origin *OriginAllocatable) error {
	return EncodeAnnotation(obj, AnnotationNodeOriginExtendedAllocatable, origin)
}

// Names in ThirdPartyAllocations.
const (
	// ThirdPartyYARN is Hadoop YARN.
	ThirdPartyYARN = "hadoop-yarn"
	// ThirdPartySlurm is Slurm.
	ThirdPartySlurm = "slurm"
)

const (
	// LabelAppComponent is the label of Kubernetes that says what a pod is of its application.
	LabelAppComponent = "app.kubernetes.io/component"
	// ComponentNodeManager is its value for the NodeManagers of YARN.
	ComponentNodeManager = "node-manager"
	// AnnotationYARNNodeID is HOST:PORT of a NodeManager, of its pod, or of a node on which it runs without one.
	AnnotationYARNNodeID = "yarn.hadoop.apache.org/node-id"
	// AnnotationYARNClusterID is the YARN cluster that it belongs to; the default one without it.
	AnnotationYARNClusterID = "yarn.hadoop.apache.org/cluster-id"
	// ComponentSlurmd is the value of LabelAppComponent for the slurmd of Slurm.
	ComponentSlurmd = "slurmd"
	// AnnotationSlurmNode is the NodeName that Slurm has for a pod of slurmd, or for a node on which it runs without one.
	AnnotationSlurmNode = "slurm.koordinator.sh/node-name"
)
