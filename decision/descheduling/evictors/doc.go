// Package evictors says who could evict a pod now, in which order, what each would need for it, and what protects the pod from each.
//
//	kubelet       node-pressure eviction: no PodDisruptionBudget holds it back, static and critical pods are spared
//	preemption    a pending pod of a higher priority; budgets are violated where nothing else helps
//	agent         the eviction features of koordlet
//	quota         the pod's quota is above its runtime and revokes what it lent
//	descheduler   a PodMigrationJob, within all gates and limits
//	drain         kubectl drain, through the eviction API
//
// Evictors that could act now come first, then those that wait for something, then those that the pod is protected from; within these,
// the least restrained come first, as above. What the other components decide is handed in: their decisions are not made again here.
package evictors
