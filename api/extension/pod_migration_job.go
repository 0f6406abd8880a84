package extension

const (
	// LabelPodEvictPolicy of a pod is how a PodMigrationJob evicts it: Eviction, Delete, SoftEviction, Surge or EvictionRequest. It wins over
	// the policy of the descheduler.
	LabelPodEvictPolicy = DomainPrefix + "evict-policy"
	// AnnotationAbortMigration of a PodMigrationJob, with the value "true", ends it as Aborted. Upstream has no such key: there, a job is
	// aborted by deleting it.
	AnnotationAbortMigration = DeschedulerDomainPrefix + "abort"
)

// MustReplaceFirst reports whether a PodMigrationJob must not evict its pod before another one replaces it.
func MustReplaceFirst(annotations map[string]string) bool {
	return annotations[AnnotationReplaceFirst] == "true"
}

// HasPassedArbitration reports whether a PodMigrationJob may start.
func HasPassedArbitration(annotations map[string]string) bool {
	return annotations[AnnotationPassedArbitration] == "true"
}

// IsMigrationAborted reports whether a user asked to abort a PodMigrationJob.
func IsMigrationAborted(annotations map[string]string) bool {
	return annotations[AnnotationAbortMigration] == "true"
}
