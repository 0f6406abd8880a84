package evictability

import (
	"slices"

	"k8s.io/apimachinery/pkg/labels"
)

// Gate is a reason for which a pod may not be evicted, by its name in skipEvictionGates.
type Gate string

// The gates, in the order in which they are asked.
const (
	StaticPod         Gate = "StaticPod"
	Terminating       Gate = "Terminating"
	EvictionCost      Gate = "EvictionCost"
	MigrationLoop     Gate = "MigrationLoop"
	NoEviction        Gate = "NoEviction"
	DaemonSet         Gate = "DaemonSet"
	BarePods          Gate = "BarePods"
	LocalStorage      Gate = "LocalStorage"
	SystemCritical    Gate = "SystemCritical"
	PriorityThreshold Gate = "PriorityThreshold"
	PVC               Gate = "PVC"
	LabelSelector     Gate = "LabelSelector"
	Namespaces        Gate = "Namespaces"
	NodeFit           Gate = "NodeFit"
)

// gates in the order in which they are asked.
var gates = [...]Gate{
	StaticPod, Terminating, EvictionCost, MigrationLoop, NoEviction, DaemonSet, BarePods, LocalStorage, SystemCritical,
	PriorityThreshold, PVC, LabelSelector, Namespaces, NodeFit,
}

// Gates are all gates, in the order in which they are asked.
func Gates() []Gate {
	return slices.Clone(gates[:])
}

// Skippable says whether skipEvictionGates may name the gate.
func (g Gate) Skippable() bool {
	return !g.binding() && g != NoEviction && g != DaemonSet
}

// binding gates hold for pods with the annotation evict, too.
func (g Gate) binding() bool {
	return slices.Contains([]Gate{StaticPod, Terminating, EvictionCost, MigrationLoop}, g)
}

// Policy is which pods the descheduler may evict. Its fields are those of upstream's MigrationControllerArgs.
type Policy struct {
	// EvictFailedBarePods allows pods without a controller that failed, EvictAllBarePods all of them.
	EvictFailedBarePods bool
	EvictAllBarePods    bool
	// EvictLocalStoragePods allows pods with emptyDir and hostPath volumes.
	EvictLocalStoragePods bool
	// EvictSystemCriticalPods allows pods of any priority.
	EvictSystemCriticalPods bool
	// IgnorePVCPods protects pods with persistent volume claims.
	IgnorePVCPods bool
	// MandatoryNoEviction makes the annotation prefer-no-eviction binding.
	MandatoryNoEviction bool
	// PriorityThreshold protects pods of this priority and above; nil is none.
	PriorityThreshold *int32
	// LabelSelector of the pods that may be evicted; nil is all.
	LabelSelector labels.Selector
	// IncludedNamespaces are the only ones with pods that may be evicted, where there are any; ExcludedNamespaces have none.
	IncludedNamespaces, ExcludedNamespaces []string
	// NodeFit asks for another node that takes the pod, of those that NodeSelector selects; nil is all.
	NodeFit      bool
	NodeSelector labels.Selector
	// SkippedGates are not asked.
	SkippedGates []Gate
}

// asks says whether a gate is asked. With the evict annotation only those are asked that hold for every requester.
func (p *Policy) asks(gate Gate, annotated bool) bool {
	return gate.binding() || !annotated && (!gate.Skippable() || !slices.Contains(p.SkippedGates, gate))
}
