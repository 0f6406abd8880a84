package v1alpha1

import (
	"fmt"
	"maps"
	"slices"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Bounds of a PlacementReview.
const (
	// MaxPlacementReviewPods is the most pods of one question.
	MaxPlacementReviewPods = 200
	// MaxPlacementReviewTargets is the most targets of one pod.
	MaxPlacementReviewTargets = 10
	// MaxPlacementReviewOffers is the most nodes of one question that offer something else.
	MaxPlacementReviewOffers = 10000
	// MaxPlacementReviewNodes is the most new nodes of one question.
	MaxPlacementReviewNodes = 100
	// MaxPlacementReviewCopies is the most copies of one question, and MaxPlacementReviewCopied the most pods that are copied.
	MaxPlacementReviewCopies = 1000
	MaxPlacementReviewCopied = 10
)

// ValidatePlacementReview returns everything that is wrong with a question.
func ValidatePlacementReview(question *PlacementReview) field.ErrorList {
	var errs field.ErrorList
	spec := field.NewPath("spec")
	switch count := len(question.Spec.Pods); {
	case count == 0 && !question.Spec.Waiting && len(question.Spec.Copies) == 0:
		errs = append(errs, field.Required(spec.Child("pods"), "or waiting, or copies"))
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
	errs = append(errs, validateCopies(question.Spec.Copies, spec.Child("copies"))...)
	errs = append(errs, validateOffers(question.Spec.Offers, spec.Child("offers"))...)
	errs = append(errs, validateNewNodes(question.Spec.NewNodes, spec.Child("newNodes"))...)
	errs = append(errs, validateNodeNames(question.Spec.ExcludedNodes, spec.Child("excludedNodes"))...)
	if most := question.Spec.MaxNodes; most != nil && (*most < 0 || *most > 100) {
		errs = append(errs, field.Invalid(spec.Child("maxNodes"), *most, "must be between 0 and 100"))
	}
	return errs
}

func validateCopies(copies []PlacementReviewCopies, path *field.Path) field.ErrorList {
	if len(copies) > MaxPlacementReviewCopied {
		return field.ErrorList{field.TooMany(path, len(copies), MaxPlacementReviewCopied)}
	}
	var errs field.ErrorList
	left := MaxPlacementReviewCopies
	for i, of := range copies {
		at := path.Index(i)
		errs = append(errs, validateNameOf(of.Namespace, at.Child("namespace"), apivalidation.ValidateNamespaceName)...)
		errs = append(errs, validateNameOf(of.Like, at.Child("like"), apivalidation.NameIsDNSSubdomain)...)
		errs = append(errs, validateCount(of.Count, &left, MaxPlacementReviewCopies, at.Child("count"))...)
	}
	return errs
}

func validateOffers(offers []PlacementReviewOffer, path *field.Path) field.ErrorList {
	if len(offers) > MaxPlacementReviewOffers {
		return field.ErrorList{field.TooMany(path, len(offers), MaxPlacementReviewOffers)}
	}
	var errs field.ErrorList
	seen := make(map[string]bool, len(offers))
	for i, offer := range offers {
		at := path.Index(i)
		if seen[offer.Node] {
			errs = append(errs, field.Duplicate(at.Child("node"), offer.Node))
		}
		seen[offer.Node] = true
		errs = append(errs, validateNameOf(offer.Node, at.Child("node"), apivalidation.NameIsDNSSubdomain)...)
		for _, name := range slices.Sorted(maps.Keys(offer.Allocatable)) {
			for _, problem := range validation.IsQualifiedName(string(name)) {
				errs = append(errs, field.Invalid(at.Child("allocatable").Key(string(name)), name, problem))
			}
			if quantity := offer.Allocatable[name]; quantity.Sign() < 0 {
				errs = append(errs, field.Invalid(at.Child("allocatable").Key(string(name)), quantity.String(), "must be 0 or more"))
			}
		}
	}
	return errs
}

func validateNewNodes(nodes []PlacementReviewNodes, path *field.Path) field.ErrorList {
	if len(nodes) > MaxPlacementReviewNodes {
		return field.ErrorList{field.TooMany(path, len(nodes), MaxPlacementReviewNodes)}
	}
	var errs field.ErrorList
	left := MaxPlacementReviewNodes
	for i, of := range nodes {
		at := path.Index(i)
		errs = append(errs, validateNameOf(of.Like, at.Child("like"), apivalidation.NameIsDNSSubdomain)...)
		errs = append(errs, validateCount(of.Count, &left, MaxPlacementReviewNodes, at.Child("count"))...)
	}
	return errs
}

// validateCount takes a count from what is left of the most that one question may ask for.
func validateCount(count int32, left *int, most int, path *field.Path) field.ErrorList {
	if count < 1 || int(count) > *left {
		return field.ErrorList{field.Invalid(path, count, fmt.Sprintf("must be at least 1, and at most %d in all", most))}
	}
	*left -= int(count)
	return nil
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
