package explain

import (
	"strings"

	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"koordinator.sh/koord/api/finding"
	decision "koordinator.sh/koord/decision/loadaware"
)

// codes maps plugins to the finding each of their refusals stands for.
var codes = map[string]finding.Code{
	names.NodeResourcesFit:   finding.InsufficientResources,
	names.TaintToleration:    finding.UntoleratedTaint,
	names.NodeAffinity:       finding.NodeAffinityMismatch,
	names.NodeUnschedulable:  finding.NodeUnschedulable,
	names.NodeName:           finding.NodeNameMismatch,
	names.NodePorts:          finding.PortConflict,
	names.PodTopologySpread:  finding.TopologySpread,
	names.InterPodAffinity:   finding.PodAffinity,
	names.VolumeBinding:      finding.VolumeBinding,
	names.VolumeZone:         finding.VolumeZone,
	names.NodeVolumeLimits:   finding.VolumeLimits,
	names.VolumeRestrictions: finding.VolumeRestrictions,
	names.DynamicResources:   finding.DynamicResources,
	names.SchedulingGates:    finding.SchedulingGated,
}

// codeOf finds the code of a refusal. Refusals of plugins that are not in the catalogue keep their text and get a code
// that says so.
func codeOf(r refusal) finding.Code {
	if r.plugin == decision.PluginName {
		return loadCode(r.reason)
	}
	if code, known := codes[r.plugin]; known {
		return code
	}
	return finding.OtherPlugin
}

// loadCode tells the plugin's three reasons apart; the aggregated one ends like the plain one, so it is tried first.
func loadCode(reason string) finding.Code {
	if reason == decision.ReasonExpired {
		return finding.LoadMetricExpired
	}
	for _, code := range []finding.Code{finding.LoadAggregatedExceeded, finding.LoadThresholdExceeded} {
		if matches(reason, decision.Verdict{Code: code}) {
			return code
		}
	}
	return finding.OtherPlugin
}

// matches compares a reason with the verdict's, whatever the resource in it.
func matches(reason string, verdict decision.Verdict) bool {
	const mark = "\x00"
	verdict.Resource = mark
	prefix, suffix, _ := strings.Cut(verdict.Reason(), mark)
	return len(reason) > len(prefix)+len(suffix) && reason[:len(prefix)] == prefix && reason[len(reason)-len(suffix):] == suffix
}
