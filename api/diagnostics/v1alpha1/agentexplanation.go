package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AgentExplanation is the explanation of a node by its koordlet, or by API objects only if koordlet did not respond.
type AgentExplanation struct {
	// Component that answered: koordlet, simulated-koordlet, or koordctl from the objects alone.
	Component string `json:"component"`
	// Instance of the agent; it changes when the agent is started again.
	// +optional
	Instance string `json:"instance,omitempty"`
	// StartedAt is when the agent was started.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
	// ObservedAt is the time of the measurement that the answer rests on; absent without one.
	// +optional
	ObservedAt *metav1.Time `json:"observedAt,omitempty"`
	// ReadOnly agents measure and write nothing.
	// +optional
	ReadOnly bool `json:"readOnly,omitempty"`
	// Cgroups is the version and the driver of the node's cgroups, such as "v2, systemd".
	// +optional
	Cgroups string `json:"cgroups,omitempty"`
	// Features in the order in which they rank.
	// +optional
	Features []AgentFeature `json:"features,omitempty"`
	// Suppression of best-effort pods.
	// +optional
	Suppression *SuppressionExplanation `json:"suppression,omitempty"`
	// CPUs of the node.
	// +optional
	CPUs *CPUExplanation `json:"cpus,omitempty"`
	// Pods with what is set for them.
	// +optional
	Pods []PodSettings `json:"pods,omitempty"`
	// Evictions that may come.
	// +optional
	Evictions *EvictionForecast `json:"evictions,omitempty"`
	// Agents of schedulers outside of Kubernetes, with their containers.
	// +optional
	Agents []ContainerAgent `json:"agents,omitempty"`
	// Audit of what the agent did.
	// +optional
	Audit *AuditPage `json:"audit,omitempty"`
	// Usage of the node before now, as its agent remembers it.
	// +optional
	Usage *UsageHistory `json:"usage,omitempty"`
	// Unknown names the inputs that could not be read; empty when all were.
	// +optional
	Unknown []UnknownInput `json:"unknown,omitempty"`
	// Incomplete lists what is missing in the answer, and why; empty when the answer is complete.
	// +optional
	Incomplete []string `json:"incomplete,omitempty"`
}

// FeatureState answers one question about a feature.
//
// +kubebuilder:validation:Enum=Yes;No;Partly;Unknown
type FeatureState string

const (
	// FeatureYes is so.
	FeatureYes FeatureState = "Yes"
	// FeatureNo is not so.
	FeatureNo FeatureState = "No"
	// FeaturePartly is so for some of it.
	FeaturePartly FeatureState = "Partly"
	// FeatureUnknown means that the state could not be determined.
	FeatureUnknown FeatureState = "Unknown"
)

// AgentFeature is one feature of the agent.
type AgentFeature struct {
	// Name of the feature's gate.
	Name string `json:"name"`
	// Rank among those that set the same files, 1 for the highest; 0 for features that set none.
	// +optional
	Rank int32 `json:"rank,omitempty"`
	// Gate is true when the agent was started with the feature.
	Gate bool `json:"gate"`
	// Configured says whether the NodeSLO asks for it.
	Configured FeatureState `json:"configured"`
	// Supported says whether the kernel supports it.
	Supported FeatureState `json:"supported"`
	// Active says whether the feature wants anything at this moment.
	Active FeatureState `json:"active"`
	// Effective says whether what it wants is in force.
	Effective FeatureState `json:"effective"`
	// Wanted counts the values that the feature wants, and InForce those of them that were found so when they were last read.
	// Values that a feature of a higher rank has are in Outranked.
	// +optional
	Wanted int32 `json:"wanted,omitempty"`
	// +optional
	InForce int32 `json:"inForce,omitempty"`
	// +optional
	Outranked int32 `json:"outranked,omitempty"`
	// Reason for the states in one sentence.
	// +optional
	Reason string `json:"reason,omitempty"`
	// State is the state of the feature in one sentence: groups of the cache, queues of a device, pods that burst.
	// +optional
	State string `json:"state,omitempty"`
	// Problems are what is wanted of it and cannot be.
	// +optional
	Problems []string `json:"problems,omitempty"`
	// LastError is the latest answer of the kernel or the API server that was none of success.
	// +optional
	LastError string `json:"lastError,omitempty"`
	// LastErrorAt is when that was.
	// +optional
	LastErrorAt *metav1.Time `json:"lastErrorAt,omitempty"`
}

// SuppressionExplanation explains how best-effort pods are suppressed.
type SuppressionExplanation struct {
	// Enabled is false when suppression is disabled; absent when the NodeSLO could not be read.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// Policy in force: cpuset or cfsQuota.
	// +optional
	Policy string `json:"policy,omitempty"`
	// Message says in one sentence what best-effort pods may use, and why.
	Message string `json:"message"`
	// Hold says why all limits are kept; empty when they are computed again.
	// +optional
	Hold string `json:"hold,omitempty"`
	// Budget from the capacity to what best-effort pods may use.
	// +optional
	Budget *Waterfall `json:"budget,omitempty"`
	// BestEffortUsed is what they use, in milliCPU.
	// +optional
	BestEffortUsed *int64 `json:"bestEffortUsed,omitempty"`
	// CPUs that best-effort pods may run on by this decision, as a Linux CPU list; empty where it chooses none.
	// +optional
	CPUs string `json:"cpus,omitempty"`
	// CPUNote says what decided the number of CPUs.
	// +optional
	CPUNote string `json:"cpuNote,omitempty"`
	// QuotaMicroseconds in 100 ms of all best-effort pods together, -1 for none; absent where it was not decided.
	// +optional
	QuotaMicroseconds *int64 `json:"quotaMicroseconds,omitempty"`
	// QuotaNote says what decided the quota.
	// +optional
	QuotaNote string `json:"quotaNote,omitempty"`
	// EffectiveCPUs and EffectiveQuotaMicroseconds are what was read back from the cgroup of best-effort pods.
	// +optional
	EffectiveCPUs string `json:"effectiveCPUs,omitempty"`
	// +optional
	EffectiveQuotaMicroseconds *int64 `json:"effectiveQuotaMicroseconds,omitempty"`
}

// CPUExplanation is the CPUs of a node and whose they are.
type CPUExplanation struct {
	// All CPUs of the node, as a Linux CPU list.
	All string `json:"all"`
	// Zones place the CPUs; absent where the agent does not report it.
	// +optional
	Zones []CPUZone `json:"zones,omitempty"`
	// Pools of CPUs that are shared.
	// +optional
	Pools []CPUPool `json:"pools,omitempty"`
	// Owners of CPUs, by their first CPU.
	// +optional
	Owners []CPUOwner `json:"owners,omitempty"`
	// OwnersUnknown says why the pods are not among the owners; empty when they are.
	// +optional
	OwnersUnknown string `json:"ownersUnknown,omitempty"`
}

// CPUZone is the cores of one NUMA node on one socket.
type CPUZone struct {
	// Socket and NUMANode as the kernel numbers them.
	Socket   int32 `json:"socket"`
	NUMANode int32 `json:"numaNode"`
	// Cores are the CPUs of each core, its hyperthreads, as a Linux CPU list.
	Cores []string `json:"cores"`
}

// CPUPool is CPUs that pods share.
type CPUPool struct {
	// Name is shared, for services, bestEffort, or suppressed, for the CPUs that best-effort pods are held to.
	Name string `json:"name"`
	// NUMANode of the CPUs; absent for a pool that spans all.
	// +optional
	NUMANode *int32 `json:"numaNode,omitempty"`
	// CPUs as a Linux CPU list, and their Count.
	CPUs  string `json:"cpus"`
	Count int32  `json:"count"`
}

// CPUOwner owns CPUs exclusively.
type CPUOwner struct {
	// Namespace and Name of a pod; the namespace is empty for what is no pod.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// QoSClass of a pod.
	// +optional
	QoSClass string `json:"qosClass,omitempty"`
	// CPUs as a Linux CPU list, and their Count.
	CPUs  string `json:"cpus"`
	Count int32  `json:"count"`
	// Lent is true for CPUs that best-effort pods may run on.
	// +optional
	Lent bool `json:"lent,omitempty"`
}

// PodSettings is what is set for one pod.
type PodSettings struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// QoSClass is LSE, LSR, LS, BE or SYSTEM; empty for none.
	// +optional
	QoSClass string `json:"qosClass,omitempty"`
	// KubernetesQoSClass by which kubelet files the pod.
	// +optional
	KubernetesQoSClass corev1.PodQOSClass `json:"kubernetesQoSClass,omitempty"`
	// Settings that a feature of the agent sets, the pod's own first, then those of its containers.
	// +optional
	Settings []CgroupSetting `json:"settings,omitempty"`
}

// CgroupSetting is one value of one cgroup.
type CgroupSetting struct {
	// Container whose cgroup it is; empty for the pod's own, and for those above it.
	// +optional
	Container string `json:"container,omitempty"`
	// Cgroup relative to its hierarchy.
	Cgroup string `json:"cgroup"`
	// Setting by the name of its file in version 1 of cgroups.
	Setting string `json:"setting"`
	// Desired is what the owner wants, Effective what was read back; empty when the file cannot be read.
	Desired string `json:"desired"`
	// +optional
	Effective string `json:"effective,omitempty"`
	// Matches is true when both mean the same.
	Matches bool `json:"matches"`
	// Owner is the feature that has the value, and Why it wants it so.
	Owner string `json:"owner"`
	// +optional
	Why string `json:"why,omitempty"`
	// Outranked are the features that want another value and rank lower.
	// +optional
	Outranked []string `json:"outranked,omitempty"`
	// Error of reading the file.
	// +optional
	Error string `json:"error,omitempty"`
}
