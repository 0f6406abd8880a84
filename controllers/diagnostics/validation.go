package diagnostics

import (
	"slices"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// Bounds of a question, as documented on the fields.
const (
	maxNodesLimit = 5000
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
		errs = field.ErrorList{field.Forbidden(spec.Child("podName"), "may not be set together with reservationName")}
	default:
		errs = validateName(question.Spec.ReservationName, spec.Child("reservationName"))
	}
	return append(errs, validateBound(question.Spec.MaxNodes, maxNodesLimit, spec.Child("maxNodes"))...)
}

func validateNodeQuestion(question *diagnosticsv1alpha1.NodeExplanation) field.ErrorList {
	spec := field.NewPath("spec")
	errs := validateName(question.Spec.NodeName, spec.Child("nodeName"))
	for i, resource := range question.Spec.Resources {
		path := spec.Child("resources").Index(i)
		switch {
		case !slices.Contains(nodeResources, resource):
			errs = append(errs, field.NotSupported(path, resource, nodeResources))
		case slices.Contains(question.Spec.Resources[:i], resource):
			errs = append(errs, field.Duplicate(path, resource))
		}
	}
	errs = append(errs, validateAgentQuestion(question.Spec.Agent, spec.Child("agent"))...)
	return append(errs, validateBound(question.Spec.MaxParts, maxPartsLimit, spec.Child("maxParts"))...)
}

// agentSections are what an agent may be asked.
var agentSections = []diagnosticsv1alpha1.AgentSection{
	diagnosticsv1alpha1.SectionFeatures, diagnosticsv1alpha1.SectionSuppression, diagnosticsv1alpha1.SectionCPUs, diagnosticsv1alpha1.SectionPods,
	diagnosticsv1alpha1.SectionEvictions, diagnosticsv1alpha1.SectionAudit, diagnosticsv1alpha1.SectionUsage,
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
