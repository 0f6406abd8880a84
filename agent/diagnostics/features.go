package diagnostics

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/agentview"
)

// Failure is the latest answer to a feature that was none of success.
type Failure struct {
	At  time.Time
	Err string
}

// FeatureInput is what the states of features follow from.
type FeatureInput struct {
	// Owners that set files, the one that ranks highest first, and On those of them that are switched on.
	Owners []string
	On     func(feature string) bool
	// SLO is what the cluster wants.
	SLO *slov1alpha1.NodeSLOSpec
	// Kernel returns the settings of which a feature takes one at least, and true for one that takes files of /proc, which every
	// kernel has.
	Kernel func(feature string) ([]cgroup.Setting, bool)
	// Targets are all that is declared.
	Targets []executor.Target
	// Failures by feature.
	Failures map[string]Failure
	// Supports reports whether this kernel has a setting.
	Supports func(cgroup.Setting) bool
	// Statuses are what features report of themselves, by their names.
	Statuses map[string]FeatureStatus
}

// CgroupFeatures says of each that sets files how it stands.
func CgroupFeatures(in FeatureInput) []diagnosticsv1alpha1.AgentFeature {
	out := make([]diagnosticsv1alpha1.AgentFeature, 0, len(in.Owners))
	for i, name := range in.Owners {
		feature := diagnosticsv1alpha1.AgentFeature{Name: name, Rank: int32(i + 1), Gate: in.On(name)}
		feature.Configured, feature.Reason = agentview.Configured(name, in.SLO)
		for t := range in.Targets {
			target := &in.Targets[t]
			if slices.Contains(target.Outranked, name) {
				feature.Wanted++
				feature.Outranked++
			}
			if target.Owner != name {
				continue
			}
			feature.Wanted++
			if target.InForce() {
				feature.InForce++
			}
		}
		feature.Supported = supported(in, name, feature.InForce)
		feature.Active = yes(feature.Wanted > 0)
		feature.Effective = effective(&feature)
		if failure, failed := in.Failures[name]; failed {
			feature.LastError, feature.LastErrorAt = failure.Err, new(metav1.NewTime(failure.At))
		}
		in.Statuses[name].applyTo(&feature)
		if !feature.Gate {
			feature.Reason = gateOff
		}
		out = append(out, feature)
	}
	return out
}

// supported reports whether the kernel has what a feature takes: what is in force is.
func supported(in FeatureInput, name string, inForce int32) diagnosticsv1alpha1.FeatureState {
	settings, everyKernel := in.Kernel(name)
	switch {
	case inForce > 0 || everyKernel:
		return diagnosticsv1alpha1.FeatureYes
	case len(settings) == 0 || in.Supports == nil:
		return diagnosticsv1alpha1.FeatureUnknown
	}
	return yes(slices.ContainsFunc(settings, in.Supports))
}

// effective reports whether what a feature wants is in force; a feature that wants nothing has no effect.
func effective(f *diagnosticsv1alpha1.AgentFeature) diagnosticsv1alpha1.FeatureState {
	switch {
	case f.Wanted == 0 || f.InForce == 0:
		return diagnosticsv1alpha1.FeatureNo
	case f.InForce < f.Wanted:
		return diagnosticsv1alpha1.FeaturePartly
	}
	return diagnosticsv1alpha1.FeatureYes
}

func yes(is bool) diagnosticsv1alpha1.FeatureState {
	if is {
		return diagnosticsv1alpha1.FeatureYes
	}
	return diagnosticsv1alpha1.FeatureNo
}

// EvictionFeature says of a feature that evicts how it stands, by its triggers.
func EvictionFeature(name string, on bool, slo *slov1alpha1.NodeSLOSpec, triggers []diagnosticsv1alpha1.EvictionTrigger, failures map[string]Failure) diagnosticsv1alpha1.AgentFeature {
	feature := diagnosticsv1alpha1.AgentFeature{Name: name, Gate: on, Supported: diagnosticsv1alpha1.FeatureYes, Active: diagnosticsv1alpha1.FeatureNo, Effective: diagnosticsv1alpha1.FeatureNo}
	feature.Configured, feature.Reason = agentview.Configured(name, slo)
	for i := range triggers {
		trigger := &triggers[i]
		if trigger.Feature != name {
			continue
		}
		switch trigger.State {
		case "calm", "triggered":
			feature.Active, feature.Reason = diagnosticsv1alpha1.FeatureYes, trigger.Reason
		case "unknown":
			feature.Active, feature.Reason = diagnosticsv1alpha1.FeatureUnknown, trigger.Reason
		case "unset":
			feature.Reason = trigger.Reason
		}
		if trigger.State == "triggered" {
			feature.Effective = diagnosticsv1alpha1.FeatureYes
			if trigger.Held != "" {
				feature.Effective, feature.Reason = diagnosticsv1alpha1.FeaturePartly, trigger.Held
			}
		}
	}
	if failure, failed := failures[name]; failed {
		feature.LastError, feature.LastErrorAt = failure.Err, new(metav1.NewTime(failure.At))
	}
	if !on {
		feature.Reason = gateOff
	}
	return feature
}

// Supports looks at the cgroup of best-effort pods for a setting.
func Supports(tree files.FS, layout cgroup.Layout, at string) func(cgroup.Setting) bool {
	return func(setting cgroup.Setting) bool { return layout.Supports(tree, setting, at) }
}
