package usageclass

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	// PluginName of the scheduler plugin.
	PluginName = "UsageClass"
	// Kind of its arguments.
	Kind = "UsageClassArgs"
	// DefaultMaxPercent is defaultMaxPercent when it is not given: a class may fill a node.
	DefaultMaxPercent = 100
)

// Args are the arguments of UsageClass.
type Args struct {
	metav1.TypeMeta `json:",inline"`
	// DefaultMaxPercent bounds the share of a node's cpu that the pods of one class may request, in percent of the node's
	// allocatable, 1 to 1000; 100 by default. More than 100 has a meaning where batch cpu is requested on top of cpu.
	DefaultMaxPercent *int64 `json:"defaultMaxPercent,omitempty"`
	// Classes that have their own bound, by name.
	Classes map[string]ClassArgs `json:"classes,omitempty"`
}

// ClassArgs bound one class. What is not given falls back to the default.
type ClassArgs struct {
	// MaxPercent of a node's allocatable cpu, 1 to 1000.
	MaxPercent *int64 `json:"maxPercent,omitempty"`
	// MaxPods of the class on one node, 1 and more; no bound when it is not given.
	MaxPods *int64 `json:"maxPods,omitempty"`
}

// SetDefaults fills in what is not given.
func SetDefaults(args *Args) {
	if args.DefaultMaxPercent == nil {
		args.DefaultMaxPercent = new(int64(DefaultMaxPercent))
	}
}

// Validate reports every value that is out of its range.
func Validate(args *Args) field.ErrorList {
	errs := validatePercent(field.NewPath("defaultMaxPercent"), args.DefaultMaxPercent)
	for _, name := range slices.Sorted(maps.Keys(args.Classes)) {
		class, at := args.Classes[name], field.NewPath("classes").Key(name)
		if name == "" {
			errs = append(errs, field.Invalid(field.NewPath("classes"), "", "must not have an empty class name"))
		}
		errs = append(errs, validatePercent(at.Child("maxPercent"), class.MaxPercent)...)
		if class.MaxPods != nil && *class.MaxPods < 1 {
			errs = append(errs, field.Invalid(at.Child("maxPods"), *class.MaxPods, "must be at least 1"))
		}
	}
	return errs
}

func validatePercent(path *field.Path, value *int64) field.ErrorList {
	if value == nil || *value >= 1 && *value <= 1000 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *value, "must be between 1 and 1000")}
}

// limit of one class; maxPods is 0 for no bound.
func (a *Args) limit(class string) (maxPercent, maxPods int64) {
	maxPercent = *a.DefaultMaxPercent
	given := a.Classes[class]
	if given.MaxPercent != nil {
		maxPercent = *given.MaxPercent
	}
	if given.MaxPods != nil {
		maxPods = *given.MaxPods
	}
	return maxPercent, maxPods
}
