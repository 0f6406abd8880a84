package configmerge

import (
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// Normalization is what one cpu of a node is worth, as configured for the node.
type Normalization struct {
	// Strategy with every layer applied. It may be shared between nodes: do not modify what its pointers and maps lead to.
	Strategy configuration.CPUNormalizationStrategy
	// Settings lists every value with the layer it came from, ordered by key.
	Settings []diagnosticsv1alpha1.Setting
	// Problems of the key. A layer with a problem is left out.
	Problems []Problem
}

// Amplification is by how much a node is shown larger than it is, as configured for the node.
type Amplification struct {
	// Strategy with every layer applied. It may be shared between nodes: do not modify what its pointers and maps lead to.
	Strategy configuration.ResourceAmplificationStrategy
	// Settings lists every value with the layer it came from, ordered by key.
	Settings []diagnosticsv1alpha1.Setting
	// Problems of the key. A layer with a problem is left out.
	Problems []Problem
}

// CPUNormalization is the strategy in force on a node: built-in default, cluster, the first node strategy that matches.
func (c Config) CPUNormalization(node *corev1.Node) Normalization {
	out := Normalization{}
	var strategy any
	strategy, out.Settings, out.Problems = c.onNode(configuration.CPUNormalizationConfigKey, node)
	if strategy, ok := strategy.(*configuration.CPUNormalizationStrategy); ok {
		out.Strategy = *strategy
	}
	return out
}

// ResourceAmplification is the strategy in force on a node: built-in default, cluster, the first node strategy that matches.
func (c Config) ResourceAmplification(node *corev1.Node) Amplification {
	out := Amplification{}
	var strategy any
	strategy, out.Settings, out.Problems = c.onNode(configuration.ResourceAmplificationConfigKey, node)
	if strategy, ok := strategy.(*configuration.ResourceAmplificationStrategy); ok {
		out.Strategy = *strategy
	}
	return out
}

// onNode is what one key means for a node, as it was rendered when the configuration was read.
func (c Config) onNode(key string, node *corev1.Node) (strategy any, settings []diagnosticsv1alpha1.Setting, problems []Problem) {
	section := c.sections[key]
	index, others := section.match(node)
	problems = c.problemsOf(key)
	if len(others) > 0 {
		problems = append(problems, overlap(key, section.entries[index].layer, others, node.Name))
	}
	chosen := section.rendered[index]
	return chosen.strategy, chosen.settings, problems
}

// LayerOf is the layer that a setting came from, LayerDefault when nothing sets it.
func LayerOf(settings []diagnosticsv1alpha1.Setting, key string) string {
	for _, setting := range settings {
		if setting.Key == key {
			return setting.Layer
		}
	}
	return LayerDefault
}
