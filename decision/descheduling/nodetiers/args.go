package nodetiers

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"koordinator.sh/koord/decision/descheduling/podselection"
)

// PluginName is the descheduler plugin that applies the decision.
const PluginName = "CustomPriority"

// Kind of the plugin arguments, in descheduler/v1alpha2.
const Kind = "CustomPriorityArgs"

// Modes of Args.
const (
	// BestEffort moves every pod that fits on a node of a later tier.
	BestEffort = "BestEffort"
	// DrainNode moves the pods of a node together, or none.
	DrainNode = "DrainNode"
)

// Thresholds are percentages of allocatable by resource.
type Thresholds map[corev1.ResourceName]float64

// Args configures CustomPriority. The JSON is that of Koordinator's CustomPriorityArgs.
type Args struct {
	metav1.TypeMeta `json:",inline"`

	// Paused stops the plugin; default false.
	Paused *bool `json:"paused,omitempty"`
	// DryRun decides without evicting; default false.
	DryRun *bool `json:"dryRun,omitempty"`
	// EvictableNamespaces and PodSelectors bound the pods that may leave.
	EvictableNamespaces *podselection.Namespaces `json:"evictableNamespaces,omitempty"`
	PodSelectors        []podselection.Selector  `json:"podSelectors,omitempty"`
	// NodeSelector selects the nodes of all tiers; all by default.
	NodeSelector *metav1.LabelSelector `json:"nodeSelector,omitempty"`
	// NodeFit checks taints and node affinity beside requests; default true.
	NodeFit *bool `json:"nodeFit,omitempty"`
	// EvictionOrder is the tiers, the most expensive first. A node belongs to the first that selects it.
	EvictionOrder []Tier `json:"evictionOrder,omitempty"`
	// Mode is BestEffort by default, or DrainNode.
	Mode string `json:"mode,omitempty"`
	// AutoCordon cordons a node before its pods leave in mode DrainNode; default false.
	AutoCordon *bool `json:"autoCordon,omitempty"`
}

// Tier is a set of nodes.
type Tier struct {
	Name string `json:"name,omitempty"`
	// NodeSelector selects the nodes of the tier; without one, it has none.
	NodeSelector *metav1.LabelSelector `json:"nodeSelector,omitempty"`
	// KeepThreshold keeps pods on nodes of which no more is requested than this, of any of these resources.
	KeepThreshold *Thresholds `json:"keepThreshold,omitempty"`
	// RejectThreshold is what may be requested of nodes of the tier with the pods that come.
	RejectThreshold *Thresholds `json:"rejectThreshold,omitempty"`
}

// SetDefaults fills in what the configuration leaves open.
func SetDefaults(args *Args) {
	for _, flag := range []struct {
		field **bool
		value bool
	}{{&args.Paused, false}, {&args.DryRun, false}, {&args.NodeFit, true}, {&args.AutoCordon, false}} {
		if *flag.field == nil {
			*flag.field = new(flag.value)
		}
	}
	if args.Mode == "" {
		args.Mode = BestEffort
	}
}

// Validate reports every value of args that is out of its range, with the path of its field. Defaults must be set.
func Validate(args *Args) field.ErrorList {
	errs := podselection.ValidateLabels(field.NewPath("nodeSelector"), args.NodeSelector)
	errs = append(errs, podselection.Validate(args.EvictableNamespaces, args.PodSelectors)...)
	if args.Mode != BestEffort && args.Mode != DrainNode {
		errs = append(errs, field.NotSupported(field.NewPath("mode"), args.Mode, []string{BestEffort, DrainNode}))
	}
	names := map[string]bool{}
	for i := range args.EvictionOrder {
		tier, path := &args.EvictionOrder[i], field.NewPath("evictionOrder").Index(i)
		switch {
		case tier.Name == "":
			errs = append(errs, field.Required(path.Child("name"), "every tier needs a name"))
		case names[tier.Name]:
			errs = append(errs, field.Duplicate(path.Child("name"), tier.Name))
		}
		names[tier.Name] = true
		if tier.NodeSelector == nil {
			errs = append(errs, field.Required(path.Child("nodeSelector"), "a tier without one has no nodes"))
		}
		errs = append(errs, podselection.ValidateLabels(path.Child("nodeSelector"), tier.NodeSelector)...)
		errs = append(errs, validateThresholds(path.Child("keepThreshold"), tier.KeepThreshold)...)
		errs = append(errs, validateThresholds(path.Child("rejectThreshold"), tier.RejectThreshold)...)
	}
	return errs
}

func validateThresholds(path *field.Path, thresholds *Thresholds) field.ErrorList {
	if thresholds == nil {
		return nil
	}
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(*thresholds)) {
		if value := (*thresholds)[name]; !(value >= 0 && value <= 100) || name == "" {
			errs = append(errs, field.Invalid(path.Key(string(name)), value, "must be between 0 and 100, of a resource with a name"))
		}
	}
	return errs
}
