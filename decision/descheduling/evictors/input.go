package evictors

import (
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/decision/descheduling/evictability"
)

// Input of Decide.
type Input struct {
	Pod *corev1.Pod
	// Node of the pod; nil when it has none or it could not be read.
	Node *corev1.Node
	// Disruption is why the API server refuses to evict the pod because of PodDisruptionBudgets; empty when it does not.
	Disruption  string
	Agent       Agent
	Quota       Quota
	Preemption  Preemption
	Descheduler Descheduler
}

// Agent is what the node agent decided about the pod.
type Agent struct {
	// Installed is true where koordlet runs on the node.
	Installed bool
	// Features that evict pods.
	Features []Feature
}

// Feature is one eviction feature of the agent.
type Feature struct {
	Name string
	// On is true when the feature is enabled on the node, and Short when the node is short of what it watches now.
	On, Short bool
	// Trigger says when the node is short, as in "memory usage >= 70%".
	Trigger string
	// Waits is what has to happen when it is not the node that has to be short of something; empty otherwise.
	Waits string
	// Exclusion is why the feature does not take the pod; empty when it does.
	Exclusion string
}

// Quota is what is known of the pod's quota.
type Quota struct {
	// Name of the quota; empty for a pod without one.
	Name string
	// Revokes is true where the scheduler evicts pods of quotas that use more than their runtime, and Over when this one does now.
	Revokes, Over bool
	// Preemptible is false for a pod that its quota never evicts.
	Preemptible bool
}

// Preemption is what is known of pods that wait for a node.
type Preemption struct {
	// Pending are pods that the pod's node would suit and that may preempt.
	Pending []Preemptor
}

// Preemptor is a pending pod.
type Preemptor struct {
	Name     string
	Priority int32
}

// Descheduler is what the descheduler decided about the pod.
type Descheduler struct {
	Installed bool
	// Evictability says which gates refuse the pod.
	Evictability evictability.Verdict
	// Job is the PodMigrationJob of the pod; empty when it has none. Running is true when it was allowed to start.
	Job     string
	Running bool
}
