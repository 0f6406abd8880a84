package schedulinghint

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Kind of the arguments of SchedulingHint.
const Kind = "SchedulingHintArgs"

// DefaultMaxHintNodes is maxHintNodes when it is not given.
const DefaultMaxHintNodes = 100

// Args are the arguments of SchedulingHint.
type Args struct {
	metav1.TypeMeta `json:",inline"`
	// MaxHintNodes bounds the nodes that one list of a hint may name, 1 to 5000, 100 by default. A longer list is an error of
	// the pod, so that no pod makes the scheduler walk the cluster twice.
	MaxHintNodes *int64 `json:"maxHintNodes,omitempty"`
}

// SetDefaults fills in what is not given.
func SetDefaults(args *Args) {
	if args.MaxHintNodes == nil {
		value := int64(DefaultMaxHintNodes)
		args.MaxHintNodes = &value
	}
}

// Validate reports every value that is out of its range.
func Validate(args *Args) field.ErrorList {
	if *args.MaxHintNodes < 1 || *args.MaxHintNodes > 5000 {
		return field.ErrorList{field.Invalid(field.NewPath("maxHintNodes"), *args.MaxHintNodes, "must be between 1 and 5000")}
	}
	return nil
}
