package numa

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
)

// Verdict is the result of a decision. The zero value passes.
type Verdict struct {
	// Code is empty when the node, or the pod, passes.
	Code finding.Code
	// Resource that is short, for those codes that are about one.
	Resource corev1.ResourceName
	// Policy that is not met, for CPUBindPolicyUnsatisfied.
	Policy extension.CPUBindPolicy
	// Detail completes the reason of NUMAUnaligned and CPUSpecInvalid.
	Detail string
}

// Passed is true when nothing stands in the way.
func (v Verdict) Passed() bool { return v.Code == "" }

// reasons are the texts of refusals that say nothing else; stems are followed by what a refusal is about.
var reasons = map[finding.Code]string{
	finding.CPUsNotInteger:           ReasonNotInteger,
	finding.CPUTopologyInvalid:       ReasonInvalidTopology,
	finding.CPUsNotWholeCores:        ReasonNotWholeCores,
	finding.CPUBindPolicyConflict:    ReasonBindConflict,
	finding.AmplificationInvalid:     ReasonInvalidRatio,
	finding.CPUsExhausted:            ReasonNotEnoughCPUs,
	finding.NUMAZonesMissing:         ReasonMissingZones,
	finding.NUMAZonesInsufficient:    ReasonInsufficientZones,
	finding.NUMAPolicyMismatch:       ReasonPolicyMismatch,
	finding.AmplifiedCPUInsufficient: ReasonAmplified,
}

var stems = map[finding.Code]string{
	finding.CPUBindPolicyUnsatisfied: ReasonRequiredBindPolicy,
	finding.NUMAResourceInsufficient: ReasonInsufficientZone,
	finding.NUMAResourceUnsatisfied:  ReasonUnsatisfied,
	finding.NUMAUnaligned:            ReasonUnaligned,
}

// Reason is the refusal as it stands in events; empty when there is none.
func (v Verdict) Reason() string {
	switch v.Code {
	case finding.CPUBindPolicyUnsatisfied:
		return fmt.Sprintf("%s %s", stems[v.Code], v.Policy)
	case finding.NUMAResourceInsufficient, finding.NUMAResourceUnsatisfied:
		return fmt.Sprintf("%s %s", stems[v.Code], v.Resource)
	case finding.NUMAUnaligned, finding.CPUSpecInvalid:
		return v.Detail
	}
	return reasons[v.Code]
}

// CodeOf returns the code of a reason, empty for a text that is none of a Verdict.
func CodeOf(reason string) finding.Code {
	for code, text := range reasons {
		if reason == text {
			return code
		}
	}
	for code, stem := range stems {
		about, found := strings.CutPrefix(reason, stem+" ")
		if reason == stem || found && (code == finding.NUMAUnaligned || !strings.Contains(about, " ")) {
			return code
		}
	}
	for _, key := range []string{extension.AnnotationNUMATopologySpec, extension.AnnotationResourceSpec} {
		if extension.NamesAnnotation(reason, key) {
			return finding.CPUSpecInvalid
		}
	}
	return ""
}

// Unresolvable is true when no pod that leaves the node would lift the refusal.
func (v Verdict) Unresolvable() bool {
	switch v.Code {
	case "", finding.CPUsExhausted, finding.CPUBindPolicyUnsatisfied, finding.NUMAZonesInsufficient,
		finding.NUMAResourceInsufficient, finding.NUMAUnaligned, finding.AmplifiedCPUInsufficient:
		return false
	}
	return true
}
