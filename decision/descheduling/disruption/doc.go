// Package disruption says whether the eviction API admits the eviction of a pod, because of the PodDisruptionBudgets that select it.
package disruption
