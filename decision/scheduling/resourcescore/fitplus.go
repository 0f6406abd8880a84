package resourcescore

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// FitPlusKind is the kind of the arguments of NodeResourcesFitPlus.
const FitPlusKind = "NodeResourcesFitPlusArgs"

// MaxScore of a node.
const MaxScore = 100

// Strategy of one resource.
type Strategy string

const (
	// LeastAllocated prefers nodes with much of the resource left.
	LeastAllocated Strategy = "LeastAllocated"
	// MostAllocated prefers nodes with little of it left.
	MostAllocated Strategy = "MostAllocated"
)

// FitPlusArgs are the arguments of NodeResourcesFitPlus.
type FitPlusArgs struct {
	metav1.TypeMeta `json:",inline"`
	// Resources that count when a pod requests them; none by default.
	Resources map[corev1.ResourceName]WeightedStrategy `json:"resources,omitempty"`
}

// WeightedStrategy of one resource.
type WeightedStrategy struct {
	// Type is LeastAllocated or MostAllocated.
	Type Strategy `json:"type,omitempty"`
	// Weight among the resources that the pod requests, 1 to 100.
	Weight int64 `json:"weight,omitempty"`
}

// ValidateFitPlus reports every value that is out of its range.
func ValidateFitPlus(args *FitPlusArgs) field.ErrorList {
	var errs field.ErrorList
	path := field.NewPath("resources")
	for _, name := range slices.Sorted(maps.Keys(args.Resources)) {
		resource, at := args.Resources[name], path.Key(string(name))
		if name == "" {
			errs = append(errs, field.Invalid(path, "", "must not have an empty resource name"))
		}
		if resource.Type != LeastAllocated && resource.Type != MostAllocated {
			errs = append(errs, field.NotSupported(at.Child("type"), resource.Type, []Strategy{LeastAllocated, MostAllocated}))
		}
		if resource.Weight < 1 || resource.Weight > 100 {
			errs = append(errs, field.Invalid(at.Child("weight"), resource.Weight, "must be between 1 and 100"))
		}
	}
	return errs
}

// Demand is one resource that a pod requests, with what the node has of it. Amounts are in milliCPU or the resource's own
// unit.
type Demand struct {
	Strategy WeightedStrategy
	// Request of the pod.
	Request int64
	// Requested by the pods on the node.
	Requested int64
	// Allocatable of the node.
	Allocatable int64
}

// FitPlus is the weighted mean, over the resources that a pod requests, of each resource's own score: the free share for
// LeastAllocated, the taken share for MostAllocated, both with the pod on the node and in percent. A resource of which the
// node would have too little scores 0. No demands score 0.
func FitPlus(demands []Demand) int64 {
	var sum, weights int64
	for i := range demands {
		sum += demands[i].Strategy.Weight * demands[i].score()
		weights += demands[i].Strategy.Weight
	}
	if weights == 0 {
		return 0
	}
	return sum / weights
}

func (d *Demand) score() int64 {
	taken := d.Requested + d.Request
	if d.Allocatable <= 0 || taken > d.Allocatable {
		return 0
	}
	if d.Strategy.Type == MostAllocated {
		return share(taken, d.Allocatable)
	}
	return share(d.Allocatable-taken, d.Allocatable)
}

// share is part/whole*MaxScore, for bytes that times MaxScore would overflow, too.
func share(part, whole int64) int64 {
	if part <= maxFactor {
		return part * MaxScore / whole
	}
	return int64(float64(part) / float64(whole) * MaxScore)
}

// maxFactor times MaxScore still is an int64.
const maxFactor = (1<<63 - 1) / MaxScore
