package configmerge

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// SLO is the node agent's configuration of one node.
type SLO struct {
	// Spec of the NodeSLO. Its parts are shared between nodes: do not modify what its pointers lead to.
	Spec slov1alpha1.NodeSLOSpec
	// Settings lists every value with the layer it came from; keys are prefixed with their ConfigMap key.
	Settings []diagnosticsv1alpha1.Setting
	// Problems of the keys that make up the spec.
	Problems []Problem
}

// sloKeys are the keys a NodeSLO is rendered from.
var sloKeys = []string{
	configuration.ResourceThresholdConfigKey,
	configuration.ResourceQOSConfigKey,
	configuration.CPUBurstConfigKey,
	configuration.SystemConfigKey,
	configuration.HostApplicationConfigKey,
}

// NodeSLOKeys are the keys that NodeSLO looks at.
func NodeSLOKeys() []string { return slices.Clone(sloKeys) }

// NodeSLOSpec is the spec of NodeSLO alone, which is what a controller compares for every node.
func (c Config) NodeSLOSpec(node *corev1.Node) slov1alpha1.NodeSLOSpec {
	var spec slov1alpha1.NodeSLOSpec
	for _, key := range sloKeys {
		section := c.sections[key]
		index, _ := section.match(node)
		setPart(&spec, section.rendered[index].strategy)
	}
	return spec
}

// NodeSLO renders a node's NodeSLO and says where each value came from.
func (c Config) NodeSLO(node *corev1.Node) SLO {
	out := SLO{Spec: c.NodeSLOSpec(node)}
	for _, key := range sloKeys {
		section := c.sections[key]
		index, others := section.match(node)
		for _, setting := range section.rendered[index].settings {
			setting.Key = key + "." + setting.Key
			out.Settings = append(out.Settings, setting)
		}
		out.Problems = append(out.Problems, c.problemsOf(key)...)
		if len(others) > 0 {
			out.Problems = append(out.Problems, overlap(key, section.entries[index].layer, others, node.Name))
		}
	}
	return out
}

func setPart(spec *slov1alpha1.NodeSLOSpec, strategy any) {
	switch strategy := strategy.(type) {
	case *slov1alpha1.ResourceThresholdStrategy:
		spec.ResourceUsedThresholdWithBE = strategy
	case *slov1alpha1.ResourceQOSStrategy:
		spec.ResourceQOSStrategy = strategy
	case *slov1alpha1.CPUBurstStrategy:
		spec.CPUBurstStrategy = strategy
	case *slov1alpha1.SystemStrategy:
		spec.SystemStrategy = strategy
	case *hostApplications:
		spec.HostApplications = strategy.Applications
	}
}
