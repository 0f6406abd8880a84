package scaledown

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"koordinator.sh/koord/decision/descheduling/podselection"
)

// PluginName is the descheduler plugin that applies the decision.
const PluginName = "ScaleDownBinPack"

// Kind of the plugin arguments, in descheduler/v1alpha2.
const Kind = "ScaleDownBinPackArgs"

// Strategy says what becomes of the ranks.
type Strategy string

// The strategies.
const (
	// CalculateOnly writes ranks to pods, as their deletion cost.
	CalculateOnly Strategy = "CalculateOnly"
	// EvictDirectly evicts the first pods.
	EvictDirectly Strategy = "EvictDirectly"
)

// Args configures ScaleDownBinPack. The JSON is that of Koordinator's ScaleDownBinPackArgs.
type Args struct {
	metav1.TypeMeta `json:",inline"`

	// Paused stops the plugin; default false.
	Paused *bool `json:"paused,omitempty"`
	// Strategy is CalculateOnly by default, or EvictDirectly.
	Strategy Strategy `json:"strategy,omitempty"`
	// MaxPodsToEvict in a pass with EvictDirectly; unset and 0 are no limit.
	MaxPodsToEvict *int32 `json:"maxPodsToEvict,omitempty"`
	// NodeSelector selects the nodes; all by default.
	NodeSelector *metav1.LabelSelector `json:"nodeSelector,omitempty"`
	// PodSelectors and EvictableNamespaces say which pods are ranked; all by default.
	PodSelectors        []podselection.Selector  `json:"podSelectors,omitempty"`
	EvictableNamespaces *podselection.Namespaces `json:"evictableNamespaces,omitempty"`
	// Resources that count; default cpu and memory.
	Resources []corev1.ResourceName `json:"resources,omitempty"`
	// ResourceWeights of the resources, above 0; default 1 each.
	ResourceWeights map[corev1.ResourceName]float64 `json:"resourceWeights,omitempty"`
}

// SetDefaults fills in what the configuration leaves open.
func SetDefaults(args *Args) {
	if args.Paused == nil {
		args.Paused = new(false)
	}
	if args.Strategy == "" {
		args.Strategy = CalculateOnly
	}
	if len(args.Resources) == 0 {
		args.Resources = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}
	}
	weights := map[corev1.ResourceName]float64{}
	for _, name := range args.Resources {
		weights[name] = 1
	}
	maps.Copy(weights, args.ResourceWeights)
	args.ResourceWeights = weights
}

// maxWeight of a resource.
const maxWeight = 1e6

// Validate reports every value of args that is out of its range, with the path of its field. Defaults must be set.
func Validate(args *Args) field.ErrorList {
	errs := podselection.ValidateLabels(field.NewPath("nodeSelector"), args.NodeSelector)
	errs = append(errs, podselection.Validate(args.EvictableNamespaces, args.PodSelectors)...)
	if args.Strategy != CalculateOnly && args.Strategy != EvictDirectly {
		errs = append(errs, field.NotSupported(field.NewPath("strategy"), args.Strategy, []Strategy{CalculateOnly, EvictDirectly}))
	}
	if args.MaxPodsToEvict != nil && *args.MaxPodsToEvict < 0 {
		errs = append(errs, field.Invalid(field.NewPath("maxPodsToEvict"), *args.MaxPodsToEvict, "must not be negative"))
	}
	for i, name := range args.Resources {
		if name == "" {
			errs = append(errs, field.Invalid(field.NewPath("resources").Index(i), "", "must not be an empty resource name"))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(args.ResourceWeights)) {
		path := field.NewPath("resourceWeights").Key(string(name))
		if weight := args.ResourceWeights[name]; !(weight > 0 && weight <= maxWeight) {
			errs = append(errs, field.Invalid(path, weight, "must be above 0 and at most 1000000"))
		}
		if !slices.Contains(args.Resources, name) {
			errs = append(errs, field.Invalid(path, name, "must be one of resources"))
		}
	}
	return errs
}
