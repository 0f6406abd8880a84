package extension

// The annotations of PodMigrationJobs that say where a job comes from.
const (
	// AnnotationEvictReason is why the pod should leave, for people.
	AnnotationEvictReason = DomainPrefix + "evict-reason"
	// AnnotationEvictTrigger is the descheduler plugin that asked for the job.
	AnnotationEvictTrigger = DomainPrefix + "evict-trigger"
	// AnnotationJobCreatedBy is the descheduler process that created the job.
	AnnotationJobCreatedBy = DomainPrefix + "job-created-by"
)
