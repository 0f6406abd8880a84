package loopguard

import "time"

// Component that made a pod leave its node.
type Component string

// The components.
const (
	// ByDescheduler: a PodMigrationJob that succeeded.
	ByDescheduler Component = "koord-descheduler"
	// ByOther: an eviction that koord-descheduler did not ask for, such as one by koordlet or by kubectl drain.
	ByOther Component = "another component"
)

// Move is a pod of a workload that left its node.
type Move struct {
	// Workload is the identity of what owns the pod over its restarts: kind/namespace/name of a Deployment, not of a ReplicaSet.
	Workload string `json:"workload"`
	// Pod that left, as namespace/name.
	Pod string `json:"pod,omitempty"`
	// From is the node it left, and To the node that its replacement runs on; To is empty when that is not known.
	From string `json:"from"`
	To   string `json:"to,omitempty"`
	// At is when it left.
	At time.Time `json:"at"`
	By Component `json:"by,omitempty"`
}
