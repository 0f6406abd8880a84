package extension

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// ArbitrationWait is why a PodMigrationJob may not start yet.
type ArbitrationWait struct {
	// Gate that does not let it pass, such as MaxMigratingPerNode.
	Gate string `json:"gate"`
	// Message has what the gate counted when the job came to it.
	Message string `json:"message,omitempty"`
	// Until is when the gate may pass by itself; nil where something has to happen first.
	Until *metav1.Time `json:"until,omitempty"`
}

// GetArbitrationWait decodes AnnotationArbitrationWait.
func GetArbitrationWait(annotations map[string]string) (*ArbitrationWait, error) {
	return DecodeAnnotation[ArbitrationWait](annotations, AnnotationArbitrationWait)
}

// SetArbitrationWait encodes AnnotationArbitrationWait.
func SetArbitrationWait(obj metav1.Object, wait *ArbitrationWait) error {
	return EncodeAnnotation(obj, AnnotationArbitrationWait, wait)
}

// HasPassedArbitration reports whether a PodMigrationJob may start.
func HasPassedArbitration(annotations map[string]string) bool {
	return annotations[AnnotationPassedArbitration] == "true"
}

// IsMigrationAborted reports whether a user asked to abort a PodMigrationJob.
func IsMigrationAborted(annotations map[string]string) bool {
	return annotations[AnnotationAbortMigration] == "true"
}
