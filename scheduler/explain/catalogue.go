package explain

import (
	"strings"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"koordinator.sh/koord/api/finding"
	decision "koordinator.sh/koord/decision/loadaware"
	"koordinator.sh/koord/scheduler/plugins/schedulinghint"
)

// Coder is a plugin that names the code of its reasons from their text alone, for attempts whose state is gone.
type Coder interface {
	fwk.Plugin
	// CodeOf returns the code of a reason, empty for a text that is not its own. It must be safe for concurrent use.
	CodeOf(reason string) finding.Code
}

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
	schedulinghint.Name:      finding.SchedulingHintMismatch,
}

// codeOf finds the code of a refusal. Refusals of plugins that are not in the catalogue keep their text and get a code
// that says so. A nil simulation knows the plugins of Kubernetes and load-aware scheduling.
func (s *simulation) codeOf(r refusal) finding.Code {
	if s != nil {
		if coder := s.coders[r.plugin]; coder != nil {
			if code := coder.CodeOf(r.reason); code != "" {
				return code
			}
		}
	}
	if r.plugin == decision.PluginName {
		return loadCode(r.reason)
	}
	if code, known := codes[r.plugin]; known {
		return code
	}
	if plugin := excludedBy(r.reason); r.plugin == "" && plugin != "" {
		return s.codeOf(refusal{plugin: plugin, reason: r.reason})
	}
	return finding.OtherPlugin
}

// excludedBy names the plugin whose PreFilter left nodes out, when it is a single one: the scheduler does not attribute
// that to a plugin, but names it in the text.
func excludedBy(reason string) string {
	for _, prefix := range []string{"node(s) didn't satisfy plugin(s) [", "node(s) didn't satisfy plugin "} {
		if name, found := strings.CutPrefix(reason, prefix); found {
			name = strings.TrimSuffix(name, "]")
			if !strings.ContainsAny(name, " ]") {
				return name
			}
			return ""
		}
	}
	return ""
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
