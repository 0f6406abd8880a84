package diagnostics

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/agentview"
)

const gateOff = "its feature gate is off"

// FeatureStatus is what a feature reports of itself beside the values of cgroups that it declares. Empty states are not known.
type FeatureStatus struct {
	Supported, Active, Effective diagnosticsv1alpha1.FeatureState
	// State is one sentence.
	State string
	// Problems are what is wanted and cannot be.
	Problems []string
}

// applyTo adds to a feature what its values do not show: what it does beside them counts as much.
func (n FeatureStatus) applyTo(feature *diagnosticsv1alpha1.AgentFeature) {
	feature.State, feature.Problems = n.State, n.Problems
	if n.Supported != "" {
		feature.Supported = n.Supported
	}
	if n.Active != "" && feature.Wanted == 0 {
		feature.Active = n.Active
	}
	if n.Effective != "" && (feature.Wanted == 0 || feature.Effective == diagnosticsv1alpha1.FeatureYes) {
		feature.Effective = n.Effective
	}
}

// OtherFeature is the state of a feature that sets no value of a cgroup, by what it reports of itself.
func OtherFeature(name string, on bool, slo *slov1alpha1.NodeSLOSpec, status FeatureStatus, failures map[string]Failure) diagnosticsv1alpha1.AgentFeature {
	feature := diagnosticsv1alpha1.AgentFeature{
		Name: name, Gate: on, Supported: diagnosticsv1alpha1.FeatureUnknown, Active: diagnosticsv1alpha1.FeatureNo, Effective: diagnosticsv1alpha1.FeatureNo,
	}
	feature.Configured, feature.Reason = agentview.Configured(name, slo)
	status.applyTo(&feature)
	if failure, failed := failures[name]; failed {
		feature.LastError, feature.LastErrorAt = failure.Err, new(metav1.NewTime(failure.At))
	}
	if !on {
		feature.Reason = gateOff
	}
	return feature
}
