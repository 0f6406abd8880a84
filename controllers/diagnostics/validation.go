package diagnostics

import (
	"fmt"
	"slices"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// Bounds of a question, as documented on the fields.
const (
	maxNodesLimit = 5000
	maxBatchNodes = 200
	maxPartsLimit = 1000
	maxAuditLimit = 2048
)

// nodeResources are the resources a NodeExplanation may ask for.
var nodeResources = []string{"batch-cpu", "batch-memory", "mid-cpu", "mid-memory"}

func validatePodQuestion(question *diagnosticsv1alpha1.PodExplanation) field.ErrorList {
	spec := field.NewPath("spec")
	var errs field.ErrorList
	switch {
	case question.Spec.ReservationName == "":
		errs = validateName(question.Spec.PodName, spec.Child("podName"))
	case question.Spec.PodName != "":
		errs = field.ErrorList{field.Forbidden(spec.Child("podName"), "may not be set when reservationName is set")}
	default:
		errs = validateName(question.Spec.ReservationName, spec.Child("reservationName"))
	}
	return append(errs, validateBound(question.Spec.MaxNodes, maxNodesLimit, spec.Child("maxNodes"))...)
}

func validateNodeQuestion(question *diagnosticsv1alpha1.NodeExplanation) field.ErrorList {
	spec := field.NewPath("spec")
	errs := validateName(question.Spec.NodeName, spec.Child("nodeName"))
	errs = append(errs, validateResources(question.Spec.Resources, spec.Child("resources"))...)
	errs = append(errs, validateAgentQuestion(question.Spec.Agent, spec.Child("agent"))...)
	return append(errs, validateBound(question.Spec.MaxParts, maxPartsLimit, spec.Child("maxParts"))...)
}

func validateNodeBatch(question *diagnosticsv1alpha1.NodeExplanationBatch) field.ErrorList {
	spec := field.NewPath("spec")
	names, path := question.Spec.NodeNames, spec.Child("nodeNames")
	var errs field.ErrorList
	switch {
	case len(names) == 0:
		errs = append(errs, field.Required(path, ""))
	case len(names) > maxBatchNodes:
		errs = append(errs, field.TooMany(path, len(names), maxBatchNodes))
	}
	seen := sets.New[string]()
	for i, name := range names {
		if seen.Has(name) {
			errs = append(errs, field.Duplicate(path.Index(i), name))
		}
		seen.Insert(name)
		errs = append(errs, validateName(name, path.Index(i))...)
	}
	errs = append(errs, validateResources(question.Spec.Resources, spec.Child("resources"))...)
	errs = append(errs, validateBatchAgentQuestion(question.Spec.Agent, spec.Child("agent"))...)
	return append(errs, validateBound(question.Spec.MaxParts, maxPartsLimit, spec.Child("maxParts"))...)
}

func validateResources(resources []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, resource := range resources {
		switch {
		case !slices.Contains(nodeResources, resource):
			errs = append(errs, field.NotSupported(path.Index(i), resource, nodeResources))
		case slices.Contains(resources[:i], resource):
			errs = append(errs, field.Duplicate(path.Index(i), resource))
		}
	}
	return errs
}

// validateBatchAgentQuestion refuses what is answered for one node only: an answer about many would have no useful bound, and the
// values set for pods need permission to get each.
func validateBatchAgentQuestion(question *diagnosticsv1alpha1.AgentQuestion, path *field.Path) field.ErrorList {
	errs := validateAgentQuestion(question, path)
	if question == nil {
		return errs
	}
	for i, section := range question.Sections {
		if section == diagnosticsv1alpha1.SectionPods || section == diagnosticsv1alpha1.SectionAudit {
			errs = append(errs, field.Forbidden(path.Child("sections").Index(i), fmt.Sprintf("%q is supported for a single node only", section)))
		}
	}
	if question.PodName != "" {
		errs = append(errs, field.Forbidden(path.Child("podName"), "is supported for a single node only"))
	}
	return errs
}

// agentSections are what an agent may be asked.
var agentSections = []diagnosticsv1alpha1.AgentSection{
	diagnosticsv1alpha1.SectionFeatures, diagnosticsv1alpha1.SectionSuppression, diagnosticsv1alpha1.SectionCPUs, diagnosticsv1alpha1.SectionPods,
	diagnosticsv1alpha1.SectionEvictions, diagnosticsv1alpha1.SectionContainers, diagnosticsv1alpha1.SectionAudit, diagnosticsv1alpha1.SectionUsage,
}

func validateAgentQuestion(question *diagnosticsv1alpha1.AgentQuestion, path *field.Path) field.ErrorList {
	if question == nil {
		return nil
	}
	var errs field.ErrorList
	for i, section := range question.Sections {
		if !slices.Contains(agentSections, section) {
			errs = append(errs, field.NotSupported(path.Child("sections").Index(i), section, agentSections))
		}
	}
	if question.PodName != "" || question.PodNamespace != "" {
		errs = append(errs, validateName(question.PodName, path.Child("podName"))...)
		errs = append(errs, validateName(question.PodNamespace, path.Child("podNamespace"))...)
	}
	errs = append(errs, validateBound(question.MaxCandidates, maxPartsLimit, path.Child("maxCandidates"))...)
	if audit := question.Audit; audit != nil {
		errs = append(errs, validateBound(audit.Size, maxAuditLimit, path.Child("audit", "size"))...)
	}
	return errs
}

func validateName(name string, path *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	var errs field.ErrorList
	for _, problem := range apivalidation.NameIsDNSSubdomain(name, false) {
		errs = append(errs, field.Invalid(path, name, problem))
	}
	return errs
}

func validateBound(value *int32, limit int32, path *field.Path) field.ErrorList {
	if value == nil || (*value >= 0 && *value <= limit) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *value, validation.InclusiveRangeError(0, int(limit)))}
}
