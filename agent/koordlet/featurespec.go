package koordlet

import (
	"path/filepath"

	"k8s.io/client-go/tools/events"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/checkpoint"
	"koordinator.sh/koord/agent/diagnostics"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// FeatureSpec declares one feature of the agent: what the workbench knows of it as well, and what only the agent does. Gates, owners of
// values, reconcilers, states and metrics are derived from it. A field is nil where the feature has no need of it.
type FeatureSpec struct {
	nodefeature.Spec
	// Kernel are settings of cgroups of which the kernel must have one at least; EveryKernel is true where files of /proc are enough.
	Kernel      []cgroup.Setting
	EveryKernel bool
	// Values makes what declares values of cgroups, of the machine and of processes.
	Values func(*featureBuild) qos.Feature
	// Result is what the latest round of what Values made came to, for the status and metrics of the feature. What is not nil must not be
	// changed after it was returned.
	Result func(qos.Feature) any
	// Reconciler makes what sets anything else. It is made also while the feature is off, because an earlier agent may have left
	// something to restore. One that comes with an error does not work and reports it; none with an error ends the start of the agent.
	Reconciler func(*featureBuild) (qos.Reconciler, error)
	// Observer makes what watches the machine beside the rounds, also in an agent that writes nothing. It is made while the feature is on.
	Observer func(*featureBuild) observer
	// With is the feature whose reconciler carries this one out.
	With string
	// Status is what the feature reports of itself beside its values.
	Status func(e *explainer, on bool) diagnostics.FeatureStatus
	// Metrics of the feature alone, and Collect which emits them.
	Metrics []diagnostics.Metric
	Collect func(e *explainer, emit diagnostics.Emit)
}

// featureBuild is what features are made of.
type featureBuild struct {
	options *Options
	trees   *trees
	layout  cgroup.Layout
	audit   *audit.Log
	events  events.EventRecorder
	// suppression is also read by the eviction and by explain; reconcilers are nil while they are made.
	suppression *qos.Suppression
	reconcilers *reconcilers
}

// store is the file in the state directory in which a reconciler keeps what was there before.
func (b *featureBuild) store(name string) checkpoint.File {
	return checkpoint.File{Path: filepath.Join(b.options.StateDirectory, name+".json")}
}

// on reports whether a feature is on.
func (b *featureBuild) on(feature nodefeature.Spec) bool { return b.options.isOn(&feature) }

// specOf returns the declaration of a feature; one without fields for a name that is not declared.
func specOf(name string) FeatureSpec {
	for _, spec := range featureSpecs() {
		if spec.Name == name {
			return spec
		}
	}
	return FeatureSpec{}
}
