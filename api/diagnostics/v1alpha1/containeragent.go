package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ContainerAgent is the agent of a scheduler outside of Kubernetes on a node, such as YARN's, and the containers that it has there.
type ContainerAgent struct {
	// Name of the agent, such as yarn; empty until it answered.
	// +optional
	Name string `json:"name,omitempty"`
	// Socket of the agent on its node.
	Socket string `json:"socket"`
	// ListedAt is when the agent listed its containers last; absent before the first time.
	// +optional
	ListedAt *metav1.Time `json:"listedAt,omitempty"`
	// Problems with the agent, with its containers, or with the configuration for them; empty when there are none.
	// +optional
	Problems []string `json:"problems,omitempty"`
	// Containers in the order in which evictions take them: the lowest priority first, and of one priority the least work.
	// +optional
	Containers []AgentContainer `json:"containers,omitempty"`
	// Omitted counts containers left out to bound the size of the answer.
	// +optional
	Omitted int32 `json:"omitted,omitempty"`
}

// AgentContainer is one container of a scheduler outside of Kubernetes.
type AgentContainer struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Priority in the bands of pods.
	Priority int32 `json:"priority"`
	// StartedAt is absent when it is not known.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
	// CPURequest in milliCPU and MemoryRequest in bytes, which its scheduler allocated to it.
	CPURequest    int64 `json:"cpuRequest"`
	MemoryRequest int64 `json:"memoryRequest"`
	// CPUUsed in milliCPU and MemoryUsed in bytes; absent when they were not measured.
	// +optional
	CPUUsed *int64 `json:"cpuUsed,omitempty"`
	// +optional
	MemoryUsed *int64 `json:"memoryUsed,omitempty"`
	// WorkSeconds is the CPU time that is lost with the container.
	WorkSeconds int64 `json:"workSeconds"`
	// Victim is true for a container that is being evicted.
	// +optional
	Victim bool `json:"victim,omitempty"`
}
