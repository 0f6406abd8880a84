package diagnostics

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/agentview"
)

const gateOff = "its feature gate is off"

// Note is what a feature tells of itself beside the values of cgroups that it wants. Empty states are not told.
type Note struct {
	Supported, Active, Effective diagnosticsv1alpha1.FeatureState
	// State is one sentence.
	State string
	// Problems are what is wanted and cannot be.
	Problems []string
}

// complete tells of a feature what its values do not: what it does beside them counts as much.
func (n Note) complete(feature *diagnosticsv1alpha1.AgentFeature) {
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

// Keeping says of a feature that sets no value of a cgroup how it stands, by what it tells of itself.
func Keeping(name string, on bool, slo *slov1alpha1.NodeSLOSpec, note Note, failures map[string]Failure) diagnosticsv1alpha1.AgentFeature {
	feature := diagnosticsv1alpha1.AgentFeature{
		Name: name, Gate: on, Supported: diagnosticsv1alpha1.FeatureUnknown, Active: diagnosticsv1alpha1.FeatureNo, Effective: diagnosticsv1alpha1.FeatureNo,
	}
	feature.Configured, feature.Reason = agentview.Configured(name, slo)
	note.complete(&feature)
	if failure, failed := failures[name]; failed {
		feature.LastError, feature.LastErrorAt = failure.Err, new(metav1.NewTime(failure.At))
	}
	if !on {
		feature.Reason = gateOff
	}
	return feature
}
