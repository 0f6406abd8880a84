package extension

// What a batch job is, for predictions from former runs of its kind. All are optional.
const (
	// AnnotationJobUser names who runs the job; by default the namespace.
	AnnotationJobUser = DomainPrefix + "job-user"
	// AnnotationJobQueue names the queue of the job; by default LabelQuotaName.
	AnnotationJobQueue = DomainPrefix + "job-queue"
	// AnnotationJobApplication names what the job runs, the same in every run. It also makes a pod a job that belongs to no Job. By default it is
	// the name of the Spark application, or of the Job without what makes the names of its runs different.
	AnnotationJobApplication = DomainPrefix + "job-application"
	// AnnotationJobShape distinguishes runs of an application that differ in size, such as by the template of a query; by default the role
	// of the pod in Spark.
	AnnotationJobShape = DomainPrefix + "job-shape"
)
