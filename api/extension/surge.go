package extension

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

// AnnotationSurge of a pod says that a PodMigrationJob took it from its ReplicaSet, so that it is replaced while it runs. Its value is a
// Surge in JSON. Upstream has no such key.
const AnnotationSurge = DeschedulerDomainPrefix + "surge"

// Surge is what gives a pod back to its ReplicaSet.
type Surge struct {
	// Job is the name of the PodMigrationJob, and JobUID its UID.
	Job    string    `json:"job"`
	JobUID types.UID `json:"jobUID"`
	// PodTemplateHash is the value of the label pod-template-hash that was taken off.
	PodTemplateHash string `json:"podTemplateHash"`
	// ReplicaSet is the name of the controller that the pod was taken from, and ReplicaSetUID its UID.
	ReplicaSet    string    `json:"replicaSet"`
	ReplicaSetUID types.UID `json:"replicaSetUID"`
}

// GetSurge reads AnnotationSurge. Without the annotation the result is empty.
func GetSurge(annotations map[string]string) (Surge, error) {
	var surge Surge
	value, found := annotations[AnnotationSurge]
	if !found {
		return surge, nil
	}
	if err := json.Unmarshal([]byte(value), &surge); err != nil {
		return Surge{}, fmt.Errorf("parse annotation %q: %w", AnnotationSurge, err)
	}
	return surge, nil
}
