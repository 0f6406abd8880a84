package device

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"koordinator.sh/koord/api/extension"
)

// Kind of the plugin arguments, in group and version kubescheduler.config.k8s.io/v1.
const Kind = "DeviceShareArgs"

// PluginName is the scheduler plugin that applies the decision.
const PluginName = "DeviceShare"

// StrategyType says which devices and nodes score high.
type StrategyType string

const (
	// LeastAllocated spreads: the emptier, the better.
	LeastAllocated StrategyType = "LeastAllocated"
	// MostAllocated packs: the fuller, the better.
	MostAllocated StrategyType = "MostAllocated"
)

// Args configures device sharing. The JSON is that of Koordinator's DeviceShareArgs, and fragmentationWeight beside it.
// A nil pointer stands for the default that SetDefaults fills in.
type Args struct {
	metav1.TypeMeta `json:",inline"`

	// Allocator is accepted and has no effect.
	Allocator string `json:"allocator,omitempty"`
	// ScoringStrategy by which devices and nodes are compared; default LeastAllocated by gpu-memory-ratio, gpu-memory, rdma
	// and fpga, with weight 1 each.
	ScoringStrategy *ScoringStrategy `json:"scoringStrategy,omitempty"`
	// FragmentationWeight is the weight, among those of the scoring strategy, of keeping whole GPUs whole: shares fill GPUs
	// that are shared already. 0 to 100, default 1.
	FragmentationWeight *int64 `json:"fragmentationWeight,omitempty"`
	// DisableDeviceNUMATopologyAlignment keeps devices out of the alignment of a pod's NUMA zones; default false.
	DisableDeviceNUMATopologyAlignment bool `json:"disableDeviceNUMATopologyAlignment,omitempty"`
	// GPUSharedResourceTemplatesConfig says where the templates are; default ConfigMap gpu-shared-resource-templates in
	// koordinator-system, for shares with huawei.com/npu-core.
	GPUSharedResourceTemplatesConfig *TemplatesConfig `json:"gpuSharedResourceTemplatesConfig,omitempty"`
	// GPUShareUnsupportedModels are not shared; none by default.
	GPUShareUnsupportedModels []GPUModel `json:"gpuShareUnsupportedModels,omitempty"`
}

// ScoringStrategy weighs resources.
type ScoringStrategy struct {
	// Type is LeastAllocated or MostAllocated.
	Type StrategyType `json:"type,omitempty"`
	// Resources that count, with weights of 1 to 100. Resources that no device is measured in have no effect.
	Resources []WeightedResource `json:"resources,omitempty"`
}

// WeightedResource is a resource with its weight.
type WeightedResource struct {
	Name   corev1.ResourceName `json:"name,omitempty"`
	Weight int64               `json:"weight,omitempty"`
}

// TemplatesConfig says where the shared-resource templates are, and which shares must match one.
type TemplatesConfig struct {
	ConfigMapNamespace string `json:"configMapNamespace,omitempty"`
	ConfigMapName      string `json:"configMapName,omitempty"`
	// MatchedResources are the resources with which a share must be exactly a template.
	MatchedResources []corev1.ResourceName `json:"matchedResources,omitempty"`
}

// GPUModel is a model of a vendor, as the labels of nodes name it.
type GPUModel struct {
	Vendor string `json:"vendor,omitempty"`
	Model  string `json:"model,omitempty"`
}

// DefaultArgs returns Args with every default filled in.
func DefaultArgs() *Args {
	args := &Args{}
	SetDefaults(args)
	return args
}

// SetDefaults fills in what the configuration leaves open.
func SetDefaults(args *Args) {
	if args.ScoringStrategy == nil {
		args.ScoringStrategy = &ScoringStrategy{}
	}
	if args.ScoringStrategy.Type == "" {
		args.ScoringStrategy.Type = LeastAllocated
	}
	if len(args.ScoringStrategy.Resources) == 0 {
		for _, name := range []corev1.ResourceName{extension.ResourceGPUMemoryRatio, extension.ResourceGPUMemory, extension.ResourceRDMA, extension.ResourceFPGA} {
			args.ScoringStrategy.Resources = append(args.ScoringStrategy.Resources, WeightedResource{Name: name, Weight: 1})
		}
	}
	if args.FragmentationWeight == nil {
		args.FragmentationWeight = new(int64(1))
	}
	if args.GPUSharedResourceTemplatesConfig == nil {
		args.GPUSharedResourceTemplatesConfig = &TemplatesConfig{}
	}
	templates := args.GPUSharedResourceTemplatesConfig
	if templates.ConfigMapNamespace == "" {
		templates.ConfigMapNamespace = "koordinator-system"
	}
	if templates.ConfigMapName == "" {
		templates.ConfigMapName = "gpu-shared-resource-templates"
	}
	if len(templates.MatchedResources) == 0 {
		templates.MatchedResources = []corev1.ResourceName{extension.ResourceHuaweiNPUCore}
	}
}

// Validate reports every value of args that is out of its range, with the path of its field. Defaults must be set.
func Validate(args *Args) field.ErrorList {
	path := field.NewPath("scoringStrategy")
	var errs field.ErrorList
	if kind := args.ScoringStrategy.Type; kind != LeastAllocated && kind != MostAllocated {
		errs = append(errs, field.NotSupported(path.Child("type"), kind, []StrategyType{LeastAllocated, MostAllocated}))
	}
	seen := map[corev1.ResourceName]bool{}
	for i, resource := range args.ScoringStrategy.Resources {
		at := path.Child("resources").Index(i)
		if resource.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
		} else if seen[resource.Name] {
			errs = append(errs, field.Duplicate(at.Child("name"), resource.Name))
		}
		seen[resource.Name] = true
		if resource.Weight < 1 || resource.Weight > 100 {
			errs = append(errs, field.Invalid(at.Child("weight"), resource.Weight, "must be between 1 and 100"))
		}
	}
	if weight := *args.FragmentationWeight; weight < 0 || weight > 100 {
		errs = append(errs, field.Invalid(field.NewPath("fragmentationWeight"), weight, "must be between 0 and 100"))
	}
	return append(errs, validateModels(args)...)
}

func validateModels(args *Args) field.ErrorList {
	var errs field.ErrorList
	for i, model := range args.GPUShareUnsupportedModels {
		at := field.NewPath("gpuShareUnsupportedModels").Index(i)
		if model.Vendor == "" {
			errs = append(errs, field.Required(at.Child("vendor"), ""))
		}
		if model.Model == "" {
			errs = append(errs, field.Required(at.Child("model"), ""))
		}
	}
	for i, name := range args.GPUSharedResourceTemplatesConfig.MatchedResources {
		if k, _, known := classify(name); !known || k != gpu {
			path := field.NewPath("gpuSharedResourceTemplatesConfig", "matchedResources").Index(i)
			errs = append(errs, field.Invalid(path, name, fmt.Sprintf("must be a resource of %s devices", gpu)))
		}
	}
	return errs
}
