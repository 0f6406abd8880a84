// Package migration carries out PodMigrationJobs. Its controller reads a job and the objects it is about, lets
// decision/descheduling/migration decide the next step, and applies that: references are recorded in the spec, then the status is written,
// then one action is taken.
//
// It keeps nothing that a restart would lose but the pace of its evictions. Writes of a job are made on the condition of its resource
// version, deletions and evictions on that of a UID. What ends a job, or evicts a pod, is decided once more on objects read past the cache.
package migration
