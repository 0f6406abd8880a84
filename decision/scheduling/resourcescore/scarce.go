package resourcescore

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ScarceKind is the kind of the arguments of ScarceResourceAvoidance.
const ScarceKind = "ScarceResourceAvoidanceArgs"

// ScarceArgs are the arguments of ScarceResourceAvoidance.
type ScarceArgs struct {
	metav1.TypeMeta `json:",inline"`
	// Resources that pods without use for them should keep away from; none by default.
	Resources []corev1.ResourceName `json:"resources,omitempty"`
}

// ValidateScarce reports every value that is out of its range.
func ValidateScarce(args *ScarceArgs) field.ErrorList {
	var errs field.ErrorList
	seen := map[corev1.ResourceName]bool{}
	for i, name := range args.Resources {
		switch at := field.NewPath("resources").Index(i); {
		case name == "":
			errs = append(errs, field.Required(at, "must be a resource name"))
		case seen[name]:
			errs = append(errs, field.Duplicate(at, name))
		}
		seen[name] = true
	}
	return errs
}

// Avoid rates a node by the resources it has that the pod does not request: unused of them in all, scarce of them on the
// list. A node with nothing scarce to waste scores MaxScore; one on which all that is unused is scarce scores 0.
func Avoid(unused, scarce int64) int64 {
	if unused == 0 || scarce == 0 {
		return MaxScore
	}
	return (unused - scarce) * MaxScore / unused
}
