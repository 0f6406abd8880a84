package numa

import (
	"fmt"

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

// Reason is the refusal as it stands in events; empty when there is none.
func (v Verdict) Reason() string {
	switch v.Code {
	case finding.CPUBindPolicyUnsatisfied:
		return fmt.Sprintf("%s %s", ReasonRequiredBindPolicy, v.Policy)
	case finding.NUMAResourceInsufficient:
		return fmt.Sprintf("%s %s", ReasonInsufficientZone, v.Resource)
	case finding.NUMAResourceUnsatisfied:
		return fmt.Sprintf("%s %s", ReasonUnsatisfied, v.Resource)
	case finding.NUMAUnaligned, finding.CPUSpecInvalid:
		return v.Detail
	}
	return reasons[v.Code]
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
