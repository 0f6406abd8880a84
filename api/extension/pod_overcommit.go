package extension

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// ProdOvercommitFactor is by how much the limits of prod pods exceed their requests: an annotation of a
	// ClusterColocationProfile, "1.5" or {"cpu":1.5}, or a label of a namespace, "1.5".
	ProdOvercommitFactor = ConfigDomainPrefix + "prod-overcommit-factor"
	// AnnotationProdOvercommit says on a pod which factor its requests were computed by.
	AnnotationProdOvercommit = "pod.koordinator.sh/prod-overcommit"
)

// Bounds of an overcommit factor.
const (
	minOvercommit = 1
	maxOvercommit = 100
)

// ParseProdOvercommitFactor reads a factor for cpu and memory alike, or a JSON object with one for each. Factors are between
// 1 and 100; anything else is an error.
func ParseProdOvercommitFactor(text string) (map[corev1.ResourceName]Ratio, error) {
	factors := map[corev1.ResourceName]Ratio{}
	if both, err := strconv.ParseFloat(text, 64); err == nil {
		factors[corev1.ResourceCPU], factors[corev1.ResourceMemory] = Ratio(both), Ratio(both)
	} else {
		decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
		if err := decoder.Decode(&factors); err != nil || decoder.More() {
			return nil, fmt.Errorf("%.80q is neither a factor nor a factor by resource", text)
		}
	}
	for name, factor := range factors {
		if name != corev1.ResourceCPU && name != corev1.ResourceMemory {
			return nil, fmt.Errorf("%.80q is neither cpu nor memory", name)
		}
		if !(factor >= minOvercommit && factor <= maxOvercommit) {
			return nil, fmt.Errorf("factor %v of %s is not between %d and %d", float64(factor), name, minOvercommit, maxOvercommit)
		}
	}
	return factors, nil
}

// ProdOvercommit is what AnnotationProdOvercommit says.
type ProdOvercommit struct {
	// Factor by resource: limit / request.
	Factor map[corev1.ResourceName]Ratio `json:"factor"`
	// Source is profile/NAME or namespace/NAME.
	Source string `json:"source"`
}

// GetProdOvercommit decodes AnnotationProdOvercommit.
func GetProdOvercommit(annotations map[string]string) (*ProdOvercommit, error) {
	return DecodeAnnotation[ProdOvercommit](annotations, AnnotationProdOvercommit)
}

// SetProdOvercommit writes AnnotationProdOvercommit.
func SetProdOvercommit(obj metav1.Object, overcommit *ProdOvercommit) error {
	return EncodeAnnotation(obj, AnnotationProdOvercommit, overcommit)
}
