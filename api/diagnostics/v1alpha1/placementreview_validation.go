package v1alpha1

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Bounds of a PlacementReview.
const (
	// MaxPlacementReviewPods is the most pods of one question.
	MaxPlacementReviewPods = 200
	// MaxPlacementReviewTargets is the most targets of one pod.
	MaxPlacementReviewTargets = 10
)

// ValidatePlacementReview returns everything that is wrong with a question.
func ValidatePlacementReview(question *PlacementReview) field.ErrorList {
	var errs field.ErrorList
	spec := field.NewPath("spec")
	switch count := len(question.Spec.Pods); {
	case count == 0:
		errs = append(errs, field.Required(spec.Child("pods"), ""))
	case count > MaxPlacementReviewPods:
		return append(errs, field.TooMany(spec.Child("pods"), count, MaxPlacementReviewPods))
	}
	seen := map[types.NamespacedName]bool{}
	for i, pod := range question.Spec.Pods {
		path, key := spec.Child("pods").Index(i), types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
		if seen[key] {
			errs = append(errs, field.Duplicate(path, key.String()))
		}
		seen[key] = true
		errs = append(errs, validateNameOf(pod.Namespace, path.Child("namespace"), apivalidation.ValidateNamespaceName)...)
		errs = append(errs, validateNameOf(pod.Name, path.Child("name"), apivalidation.NameIsDNSSubdomain)...)
		if len(pod.Targets) > MaxPlacementReviewTargets {
			errs = append(errs, field.TooMany(path.Child("targets"), len(pod.Targets), MaxPlacementReviewTargets))
			continue
		}
		errs = append(errs, validateNodeNames(pod.Targets, path.Child("targets"))...)
	}
	errs = append(errs, validateNodeNames(question.Spec.ExcludedNodes, spec.Child("excludedNodes"))...)
	if most := question.Spec.MaxNodes; most != nil && (*most < 0 || *most > 100) {
		errs = append(errs, field.Invalid(spec.Child("maxNodes"), *most, "must be between 0 and 100"))
	}
	return errs
}

func validateNodeNames(names []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, name := range names {
		errs = append(errs, validateNameOf(name, path.Index(i), apivalidation.NameIsDNSSubdomain)...)
	}
	return errs
}

func validateNameOf(name string, path *field.Path, validate apivalidation.ValidateNameFunc) field.ErrorList {
	var errs field.ErrorList
	for _, problem := range validate(name, false) {
		errs = append(errs, field.Invalid(path, name, problem))
	}
	return errs
}
