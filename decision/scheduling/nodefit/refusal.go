package nodefit

import (
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
)

// Names of the plugins.
const (
	NodeResourcesFit  = "NodeResourcesFit"
	TaintToleration   = "TaintToleration"
	NodeAffinity      = "NodeAffinity"
	NodeUnschedulable = "NodeUnschedulable"
	NodeName          = "NodeName"
	NodePorts         = "NodePorts"
)

// says makes a Describe without operands.
func says(message string) func() (string, []diagnosticsv1alpha1.Term) {
	return func() (string, []diagnosticsv1alpha1.Term) { return message, nil }
}

// codes are the findings that refusals of the plugins of Kubernetes stand for.
var codes = map[string]finding.Code{
	NodeResourcesFit:     finding.InsufficientResources,
	TaintToleration:      finding.UntoleratedTaint,
	NodeAffinity:         finding.NodeAffinityMismatch,
	NodeUnschedulable:    finding.NodeUnschedulable,
	NodeName:             finding.NodeNameMismatch,
	NodePorts:            finding.PortConflict,
	"PodTopologySpread":  finding.TopologySpread,
	"InterPodAffinity":   finding.PodAffinity,
	"VolumeBinding":      finding.VolumeBinding,
	"VolumeZone":         finding.VolumeZone,
	"NodeVolumeLimits":   finding.VolumeLimits,
	"VolumeRestrictions": finding.VolumeRestrictions,
	"DynamicResources":   finding.DynamicResources,
	"SchedulingGates":    finding.SchedulingGated,
}

// CodeOf returns the finding that a refusal of a plugin of Kubernetes stands for, false for any other plugin.
func CodeOf(plugin string) (finding.Code, bool) {
	code, known := codes[plugin]
	return code, known
}
