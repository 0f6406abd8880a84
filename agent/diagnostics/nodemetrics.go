package diagnostics

import (
	"time"

	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/decision/core/podrequest"
)

// NodeMetrics are what metrics are made of; a nil pointer is not known.
type NodeMetrics struct {
	Node    string
	Started time.Time
	// Used by the node at the latest reading; Average of the node and System, what is no pod, over the window of reports.
	Used, Average, System *podrequest.Amount
	// NUMANodes are averages as well.
	NUMANodes []NUMAMetrics
	// Applications that run outside of Kubernetes.
	Applications []ApplicationMetrics
	// Budget is what best-effort pods may use while they are held back, and the others what is used by pods above best effort and
	// by best-effort pods, in milli-cores.
	Budget, AboveUsed, BestEffortUsed *int64
	// Policy of the suppression.
	Policy string
	// Pools of CPUs by name, with their CPUs.
	Shared, BestEffort []Pool
	// Evictions by the reason of their events, and Evicted the pods of the latest.
	Evictions map[string]int
	Evicted   []EvictedMetrics
	// TopologyReads counts how often capacity and topology were read, by whether that succeeded.
	TopologyReads map[bool]int
	// Containers with what is set of each.
	Containers []ContainerMetrics
	// Pods that run, and Pressure on the node; nil while it was not measured.
	Pods     []PodMetrics
	Pressure []PressureMetrics
	// Reclaimable and Peak are predicted, by the name of the predictor, and ProdReclaimable is what is reported of prod pods.
	Reclaimable, Peak map[string]podrequest.Amount
	ProdReclaimable   *podrequest.Amount
	// Allocatable of the node by resource, as numbers of Kubernetes.
	Allocatable map[string]float64
	// InForce and Wanted count values of cgroups by feature.
	Wanted, InForce map[string]int32
	// Features are what single features measure and set.
	Features []Sample
	// AuditEntries that were ever written.
	AuditEntries uint64
	// Writes counts what became of what features want, and OriginalsKept reports whether what was there before can be kept; nil is not
	// known.
	Writes        map[string]executor.WriteCounts
	OriginalsKept *bool
	// Enforcing reports whether the agent can limit best-effort pods, nil is not known, and EnforcingReason why.
	Enforcing       *bool
	EnforcingReason string
}

// NUMAMetrics is the average use of one NUMA node.
type NUMAMetrics struct {
	ID           int32
	Node, System podrequest.Amount
}

// ApplicationMetrics is what one host application outside Kubernetes uses at the latest reading.
type ApplicationMetrics struct {
	Name, Priority, QoS string
	Used                podrequest.Amount
}

// EvictedMetrics is a pod that was evicted, by the reason of its event.
type EvictedMetrics struct {
	Namespace, Pod, Reason string
}

// Pool is CPUs of one NUMA node.
type Pool struct {
	NUMANode string
	CPUs     string
	Count    int
}
