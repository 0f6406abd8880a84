// Package evacuation decides how the eviction of a pod is answered that is to be migrated instead: its resources are reserved on another
// node by a PodMigrationJob before it leaves its own, although kubectl drain, or another component that knows nothing of reservations,
// asked for its eviction. Until then the answer is status 429, after which clients of the eviction API try again.
package evacuation
