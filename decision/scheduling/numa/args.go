package numa

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/scheduling/resourcescore"
)

// Kind of the plugin arguments, in group and version kubescheduler.config.k8s.io/v1.
const Kind = "NodeNUMAResourceArgs"

// PluginName is the scheduler plugin that applies the decision.
const PluginName = "NodeNUMAResource"

// Args are the arguments of NodeNUMAResource. The JSON is that of Koordinator's NodeNUMAResourceArgs.
type Args struct {
	metav1.TypeMeta `json:",inline"`
	// DefaultCPUBindPolicy of pods that are bound to CPUs and name none: FullPCPUs, the default, or SpreadByPCPUs.
	DefaultCPUBindPolicy extension.CPUBindPolicy `json:"defaultCPUBindPolicy,omitempty"`
	// ScoringStrategy rates nodes; default LeastAllocated with cpu 1 and memory 1.
	ScoringStrategy *ScoringStrategy `json:"scoringStrategy,omitempty"`
	// NUMAScoringStrategy rates NUMA zones, and orders them for nodes without their own strategy; default
	// LeastAllocated with cpu 1 and memory 1.
	NUMAScoringStrategy *ScoringStrategy `json:"numaScoringStrategy,omitempty"`
}

// ScoringStrategy says which resources count, and how.
type ScoringStrategy struct {
	// Type is LeastAllocated or MostAllocated.
	Type resourcescore.Strategy `json:"type,omitempty"`
	// Resources that count.
	Resources []ResourceWeight `json:"resources,omitempty"`
}

// ResourceWeight is what one resource counts.
type ResourceWeight struct {
	// Name of the resource.
	Name corev1.ResourceName `json:"name,omitempty"`
	// Weight, 1 to 100; default 1.
	Weight int64 `json:"weight,omitempty"`
}

// DefaultArgs returns Args with every default filled in.
func DefaultArgs() *Args {
	args := &Args{}
	SetDefaults(args)
	return args
}

// SetDefaults fills in what the configuration leaves open.
func SetDefaults(args *Args) {
	if args.DefaultCPUBindPolicy == "" {
		args.DefaultCPUBindPolicy = extension.CPUBindPolicyFullPCPUs
	}
	for _, strategy := range []**ScoringStrategy{&args.ScoringStrategy, &args.NUMAScoringStrategy} {
		if *strategy == nil {
			*strategy = &ScoringStrategy{}
		}
		if (*strategy).Type == "" {
			(*strategy).Type = resourcescore.LeastAllocated
		}
		if (*strategy).Resources == nil {
			(*strategy).Resources = []ResourceWeight{{corev1.ResourceCPU, 1}, {corev1.ResourceMemory, 1}}
		}
		for i := range (*strategy).Resources {
			if (*strategy).Resources[i].Weight == 0 {
				(*strategy).Resources[i].Weight = 1
			}
		}
	}
}

// Validate reports every value of args that is out of its range, with the path of its field. Defaults must be set.
func Validate(args *Args) field.ErrorList {
	var errs field.ErrorList
	supported := []extension.CPUBindPolicy{extension.CPUBindPolicyFullPCPUs, extension.CPUBindPolicySpreadByPCPUs}
	if policy := args.DefaultCPUBindPolicy; policy != supported[0] && policy != supported[1] {
		errs = append(errs, field.NotSupported(field.NewPath("defaultCPUBindPolicy"), policy, supported))
	}
	errs = append(errs, args.ScoringStrategy.validate(field.NewPath("scoringStrategy"))...)
	return append(errs, args.NUMAScoringStrategy.validate(field.NewPath("numaScoringStrategy"))...)
}

func (s *ScoringStrategy) validate(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s.Type != resourcescore.LeastAllocated && s.Type != resourcescore.MostAllocated {
		errs = append(errs, field.NotSupported(path.Child("type"), s.Type, []resourcescore.Strategy{resourcescore.LeastAllocated, resourcescore.MostAllocated}))
	}
	seen := map[corev1.ResourceName]bool{}
	for i, resource := range s.Resources {
		at := path.Child("resources").Index(i)
		switch {
		case resource.Name == "":
			errs = append(errs, field.Required(at.Child("name"), "must be a resource name"))
		case seen[resource.Name]:
			errs = append(errs, field.Duplicate(at.Child("name"), resource.Name))
		}
		seen[resource.Name] = true
		if resource.Weight < 1 || resource.Weight > 100 {
			errs = append(errs, field.Invalid(at.Child("weight"), resource.Weight, "must be between 1 and 100"))
		}
	}
	return errs
}

// strategyOf is the order in which zones of a node are filled: the node's own, or what goes with the scoring of zones.
func (a *Args) strategyOf(node *Node) extension.NUMAAllocateStrategy {
	switch {
	case node.Strategy != "":
		return node.Strategy
	case a.NUMAScoringStrategy.Type == resourcescore.MostAllocated:
		return extension.NUMAMostAllocated
	}
	return extension.NUMALeastAllocated
}
