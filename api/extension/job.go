package extension

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// AnnotationJobPrediction says what is predicted of a job. koord-manager writes it when the pod is created, over what is there; koordlet,
// koord-descheduler and koord-scheduler go by it when they choose which pods to evict, move and preempt.
const AnnotationJobPrediction = DomainPrefix + "job-prediction"

// JobPrediction is what former runs of its kind say about a job.
type JobPrediction struct {
	// Duration from the start of the first container to the end of the last; nil where nothing is known of it.
	Duration *JobDuration `json:"duration,omitempty"`
}

// JobDuration is an interval that covers 90% of the runs, in seconds.
type JobDuration struct {
	// LikelySeconds are as likely exceeded as not.
	LikelySeconds int64 `json:"likelySeconds"`
	// LeastSeconds and MostSeconds are the ends of the interval.
	LeastSeconds int64 `json:"leastSeconds"`
	MostSeconds  int64 `json:"mostSeconds"`
	// Runs that it rests on.
	Runs uint32 `json:"runs"`
}

// GetJobPrediction decodes AnnotationJobPrediction; nil without one.
func GetJobPrediction(annotations map[string]string) (*JobPrediction, error) {
	return DecodeAnnotation[JobPrediction](annotations, AnnotationJobPrediction)
}

// SetJobPrediction writes AnnotationJobPrediction; nil removes it.
func SetJobPrediction(obj metav1.Object, prediction *JobPrediction) error {
	return EncodeAnnotation(obj, AnnotationJobPrediction, prediction)
}
