// Package evacuation answers evictions of pods that are to be migrated instead, and creates the PodMigrationJobs that do so.
package evacuation
