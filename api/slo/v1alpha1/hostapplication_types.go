package v1alpha1

import (
	"koordinator.sh/koord/api/extension"
)

// HostApplicationSpec is an application that runs on a node outside of Kubernetes.
//
// +kubebuilder:pruning:PreserveUnknownFields
type HostApplicationSpec struct {
	// Name of the application.
	Name string `json:"name,omitempty"`
	// Priority class of the application.
	Priority extension.PriorityClass `json:"priority,omitempty"`
	// QoS class of the application.
	QoS extension.QoSClass `json:"qos,omitempty"`
	// CgroupPath is the cgroup of the application; one chosen by priority and QoS when unset.
	CgroupPath *CgroupPath `json:"cgroupPath,omitempty"`
	// Strategy of the application.
	Strategy *HostApplicationStrategy `json:"strategy,omitempty"`
}

// HostApplicationStrategy has no fields yet.
//
// +kubebuilder:pruning:PreserveUnknownFields
type HostApplicationStrategy struct{}

// CgroupPath is base/parentDir/relativePath.
//
// +kubebuilder:pruning:PreserveUnknownFields
type CgroupPath struct {
	// Base directory.
	Base CgroupBaseType `json:"base,omitempty"`
	// ParentDir under the base.
	ParentDir string `json:"parentDir,omitempty"`
	// RelativePath under the parent.
	RelativePath string `json:"relativePath,omitempty"`
}

// CgroupBaseType names a directory whose path depends on the cgroup driver.
type CgroupBaseType string

const (
	// CgroupBaseTypeRoot is the root of the hierarchy.
	CgroupBaseTypeRoot CgroupBaseType = "CgroupRoot"
	// CgroupBaseTypeKubepods is the parent of all pods.
	CgroupBaseTypeKubepods CgroupBaseType = "Kubepods"
	// CgroupBaseTypeKubeBurstable is the parent of burstable pods.
	CgroupBaseTypeKubeBurstable CgroupBaseType = "KubepodsBurstable"
	// CgroupBaseTypeKubeBesteffort is the parent of best-effort pods.
	CgroupBaseTypeKubeBesteffort CgroupBaseType = "KubepodsBesteffort"
)
