package nodefeature

import (
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// Kind is how the agent carries a feature out.
type Kind string

const (
	// Values is for features that set values of cgroups, of the machine or of processes. Where two want different values of one
	// file, the one that comes first in All has it.
	Values Kind = "Values"
	// Eviction is for features that evict pods from a node that is short of resources.
	Eviction Kind = "Eviction"
	// Other is for features that set, inject, measure or report something else.
	Other Kind = "Other"
)

// Spec declares one feature of the node agent.
type Spec struct {
	// Name of the feature gate, and Default whether it is on unless the gate is set.
	Name    string
	Default bool
	Kind    Kind
	// Summary is what the feature does, for the docs.
	Summary string
	// Decision is the package that decides; empty for a feature that only measures or reports.
	Decision string
	// Docs is the page and section of the docs, such as isolation.md#network.
	Docs string
	// NodeSLO is the field that switches the feature on; empty for a feature that follows no NodeSLO.
	NodeSLO string
	// Configured reports whether a NodeSLO, which is never nil, asks for the feature, and what in it does.
	Configured func(*slov1alpha1.NodeSLOSpec) (diagnosticsv1alpha1.FeatureState, string)
	// Settings of slo-controller-config that have no effect while the feature is off.
	Settings Settings
}

// Settings are those of one key of slo-controller-config that a feature carries out.
type Settings struct {
	Key   string
	Paths []string
	// Or is another feature that carries out the same.
	Or string
}

// Named returns the feature with a gate.
func Named(name string) (Spec, bool) {
	for _, spec := range All() {
		if spec.Name == name {
			return spec, true
		}
	}
	return Spec{}, false
}

// On reports whether the feature is on, by the gates that are set.
func (s *Spec) On(gates map[string]bool) bool {
	if on, set := gates[s.Name]; set {
		return on
	}
	return s.Default
}
