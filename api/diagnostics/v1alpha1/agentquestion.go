package v1alpha1

// AgentSection is a section of the answer of koordlet.
//
// +kubebuilder:validation:Enum=features;suppression;cpus;pods;evictions;containers;audit;usage
type AgentSection string

const (
	// SectionFeatures is what each feature is set to, what the kernel supports of it, and what came of it.
	SectionFeatures AgentSection = "features"
	// SectionSuppression is the CPU that best-effort pods are held to.
	SectionSuppression AgentSection = "suppression"
	// SectionCPUs is the pools of CPUs, and who owns which.
	SectionCPUs AgentSection = "cpus"
	// SectionPods is what is set for pods, and what is in force.
	SectionPods AgentSection = "pods"
	// SectionEvictions is how far each trigger of evictions is away, and who would go.
	SectionEvictions AgentSection = "evictions"
	// SectionContainers is the containers of schedulers outside of Kubernetes.
	SectionContainers AgentSection = "containers"
	// SectionAudit is what the agent did to its node.
	SectionAudit AgentSection = "audit"
	// SectionUsage is what the node used in the past half an hour.
	SectionUsage AgentSection = "usage"
)

// AgentQuestion is the request to koordlet on a node.
type AgentQuestion struct {
	// Sections to answer; all but audit, pods and usage when empty.
	// +optional
	Sections []AgentSection `json:"sections,omitempty"`
	// PodNamespace and PodName choose the pod of section pods; all pods of the node when empty.
	// +optional
	PodNamespace string `json:"podNamespace,omitempty"`
	// +optional
	PodName string `json:"podName,omitempty"`
	// MaxCandidates bounds the pods listed below a trigger of evictions, and the containers of an agent; default 10, at most 1000.
	// +optional
	MaxCandidates *int32 `json:"maxCandidates,omitempty"`
	// Audit chooses the entries of section audit; the latest when absent.
	// +optional
	Audit *AuditQuestion `json:"audit,omitempty"`
}

// AuditQuestion chooses entries of an audit log.
type AuditQuestion struct {
	// After is the number of an entry: those after it are returned, oldest first. The latest are when absent.
	// +optional
	After *int64 `json:"after,omitempty"`
	// Instance of the agent that numbered After. The entries of another instance are returned from its first.
	// +optional
	Instance string `json:"instance,omitempty"`
	// Size bounds the entries; default 100, at most 2048.
	// +optional
	Size *int32 `json:"size,omitempty"`
}
