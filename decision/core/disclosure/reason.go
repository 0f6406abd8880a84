package disclosure

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"koordinator.sh/koord/api/finding"
)

// failed begins the reasons of plugins that could not decide, which go on with an error: it may name anything.
const failed = "error: "

// plain are the codes of reasons that name nothing but what the pod names itself: resources, taints, topology keys, its own volumes.
// All other reasons are taken to name objects.
var plain = []finding.Code{
	finding.InsufficientResources, finding.UntoleratedTaint, finding.NodeAffinityMismatch, finding.NodeUnschedulable, finding.NodeNameMismatch,
	finding.PortConflict, finding.TopologySpread, finding.PodAffinity, finding.VolumeBinding, finding.VolumeZone, finding.VolumeLimits,
	finding.VolumeRestrictions, finding.SchedulingGated,
	finding.LoadMetricExpired, finding.LoadThresholdExceeded, finding.LoadAggregatedExceeded,
	finding.CPUsNotInteger, finding.CPUTopologyInvalid, finding.CPUsNotWholeCores, finding.CPUBindPolicyConflict, finding.AmplificationInvalid,
	finding.CPUsExhausted, finding.CPUBindPolicyUnsatisfied, finding.NUMAZonesMissing, finding.NUMAZonesInsufficient, finding.NUMAPolicyMismatch,
	finding.NUMAResourceInsufficient, finding.NUMAResourceUnsatisfied, finding.NUMAUnaligned, finding.AmplifiedCPUInsufficient, finding.CPUSpecInvalid,
	finding.DeviceRequestInvalid, finding.DevicesInsufficient, finding.DeviceFunctionsInsufficient, finding.GPUPartitionsInsufficient,
	finding.GPUPartitionTableMissing, finding.GPUPartitionSizeUnknown, finding.DeviceScopeInsufficient, finding.DeviceTopologyMissing,
	finding.DeviceJointViolation, finding.GPUTemplateUnmatched, finding.GPUIsolationMissing, finding.GPUShareUnsupported,
	finding.DeviceNUMAInsufficient, finding.DevicePluginUnfit,
	finding.ReservationAffinityUnmatched, finding.ReservationUnfit, finding.ReservationNodeMismatch, finding.ReservationInactive,
	finding.ReservationPolicyConflict, finding.ReservationNameMismatch, finding.ReservationConsumed, finding.ReservationUnschedulable,
	finding.ReservationTainted, finding.ReservationNotExact, finding.ReservationInsufficient, finding.ReservationNodeInsufficient,
	finding.PreAllocationInvalid, finding.ReservationWishInvalid,
	finding.UsageClassShare, finding.UsageClassPods, finding.SchedulingHintMismatch, finding.SchedulingHintInvalid,
}

// names reports whether a reason may name objects other than the pod.
func names(code, reason string) bool {
	return strings.HasPrefix(reason, failed) || !slices.Contains(plain, finding.Code(code))
}

// neutral says what a code means, in the place of a reason that names objects.
func neutral(code, plugin string) string {
	if entry, found := finding.Lookup(finding.Code(code)); found && entry.Code != finding.OtherPlugin {
		return clause(entry.Summary.English)
	}
	if plugin == "" {
		return "refused for another reason"
	}
	return fmt.Sprintf("refused by plugin %s", plugin)
}

// clause is a sentence of the catalogue as a part of another one. A name that it begins with keeps its capitals.
func clause(sentence string) string {
	sentence = strings.TrimSuffix(sentence, ".")
	if len(sentence) > 1 && unicode.IsLower(rune(sentence[1])) || strings.HasPrefix(sentence, "A ") {
		return strings.ToLower(sentence[:1]) + sentence[1:]
	}
	return sentence
}

// told is a reason that names no other object: the reason itself, or else what its code means.
func told(code, plugin, reason string) string {
	if names(code, reason) {
		return neutral(code, plugin)
	}
	return reason
}
