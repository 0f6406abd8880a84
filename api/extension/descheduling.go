package extension

const (
	// DeschedulerDomainPrefix begins the keys of koord-descheduler.
	DeschedulerDomainPrefix = "descheduler.koordinator.sh/"
	// AnnotationPassedArbitration is "true" on a PodMigrationJob that may start.
	AnnotationPassedArbitration = DeschedulerDomainPrefix + "passed-arbitration"
	// AnnotationSourceNode is the node that the pod of a PodMigrationJob ran on when koord-descheduler made the job, and later when the job
	// was allowed to start. Limits per node count the job by it when the pod is gone.
	AnnotationSourceNode = DeschedulerDomainPrefix + "source-node"
	// AnnotationSourceWorkload is the workload of the pod of a PodMigrationJob when the job was allowed to start, as
	// kind/name/UID. Limits per workload count the job by it when the pod is gone.
	AnnotationSourceWorkload = DeschedulerDomainPrefix + "source-workload"
	// AnnotationReplaceFirst is "true" on a PodMigrationJob that was allowed to start because its pod is replaced before it is evicted. Such
	// a job fails where it would have to evict the pod first, which users may ask for by the same annotation. Upstream has no such key.
	AnnotationReplaceFirst = DeschedulerDomainPrefix + "replace-first"
	// AnnotationArbitrationWait is what a PodMigrationJob that may not start yet waits for. Upstream has no such key.
	AnnotationArbitrationWait = DeschedulerDomainPrefix + "waits-for"
	// AnnotationTargetNode is the node that the pod of a PodMigrationJob was planned to move to.
	AnnotationTargetNode = DeschedulerDomainPrefix + "target-node"
	// AnnotationMigrationPass on PodMigrationJobs is the pass of the descheduler that planned them. Those of one pass that also have a
	// source and a target node start in the order in which they make room for each other.
	AnnotationMigrationPass = DeschedulerDomainPrefix + "pass"

	// AnnotationMigrateOnEviction on a pod has its evictions by others, such as kubectl drain, answered with status 429 while a
	// PodMigrationJob moves the pod: Preferred evicts it without a reservation when that fails, Required does not. Upstream has no such key.
	AnnotationMigrateOnEviction = DeschedulerDomainPrefix + "migrate-on-eviction"

	// AnnotationResizeInPlace on a pod says whether koord-descheduler may lower the CPU limits of its containers while its node is overutilized:
	// ResizeInPlaceAllowed or ResizeInPlaceNever. Without it, pods of Jobs may be resized. Upstream has no such key.
	AnnotationResizeInPlace = DeschedulerDomainPrefix + "resize-in-place"
	// ResizeInPlaceAllowed lets the CPU limits of a pod be lowered whose controller is no Job.
	ResizeInPlaceAllowed = "Allowed"
	// ResizeInPlaceNever keeps the CPU limits of a pod, and gives back what was taken from them.
	ResizeInPlaceNever = "Never"

	// AnnotationEvict on a pod lets deschedulers evict it, whatever their gates and limits say. Its value has no meaning.
	AnnotationEvict = "descheduler.alpha.kubernetes.io/evict"
	// AnnotationPreferNoEviction on a pod asks deschedulers not to evict it. Its value has no meaning.
	AnnotationPreferNoEviction = "descheduler.alpha.kubernetes.io/prefer-no-eviction"
	// AnnotationRequestEvictOnly on a pod says that its evictions are carried out in the background: a component answers them with
	// status 429 and EvictionInBackgroundText, and moves the pod itself. Its value has no meaning.
	AnnotationRequestEvictOnly = "descheduler.alpha.kubernetes.io/request-evict-only"
	// AnnotationEvictionInProgress on a pod with AnnotationRequestEvictOnly names the component that evicts it in the background. It is
	// removed when that fails.
	AnnotationEvictionInProgress = "descheduler.alpha.kubernetes.io/eviction-in-progress"
	// EvictionInBackgroundText is in the message of the answer to an eviction that is carried out in the background.
	EvictionInBackgroundText = "Eviction triggered evacuation"
)
