package explain

import (
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/scheduler/reason"
	"koordinator.sh/koord/scheduler/recovery"
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
// that says so. A nil simulation knows the plugins of Kubernetes only.
func (s *simulation) codeOf(r refusal) finding.Code {
	if recovery.Is(r.reason) {
		return finding.PluginPanicked
	}
	for _, coder := range s.codersOf(r.plugin) {
		if code := coder.CodeOf(r.reason); code != "" {
			return code
		}
	}
	if code, known := codes[r.plugin]; known {
		return code
	}
	if r.reason == notReplayed {
		return finding.GangMemberRefused
	}
	if plugin := reason.ExcludedBy(r.reason); r.plugin == "" && plugin != "" {
		return s.codeOf(refusal{plugin: plugin, reason: r.reason})
	}
	return finding.OtherPlugin
}

// codersOf lists who may know the texts of a plugin: itself, and those whose refusals it relays.
func (s *simulation) codersOf(plugin string) []reason.Coder {
	if s == nil {
		return nil
	}
	var list []reason.Coder
	for _, name := range s.speakersOf(plugin) {
		if coder := s.coders[name]; coder != nil {
			list = append(list, coder)
		}
	}
	return list
}

// speakersOf names the plugins whose refusals a plugin returns: its own, and those that it relays.
func (s *simulation) speakersOf(plugin string) []string {
	return append([]string{plugin}, s.relayed[plugin]...)
}
