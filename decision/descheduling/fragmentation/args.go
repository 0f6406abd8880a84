package fragmentation

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"koordinator.sh/koord/decision/descheduling/podselection"
)

// PluginName is the descheduler plugin that applies the decision.
const PluginName = "FragmentationAware"

// Kind of the plugin arguments, in descheduler/v1alpha2.
const Kind = "FragmentationAwareArgs"

// Args configures FragmentationAware. The JSON is that of Koordinator's FragmentationAwareArgs.
type Args struct {
	metav1.TypeMeta `json:",inline"`

	// Paused stops the plugin; default false.
	Paused *bool `json:"paused,omitempty"`
	// DryRun decides without evicting; default false.
	DryRun *bool `json:"dryRun,omitempty"`
	// NodeSelector selects the nodes that pods leave and go to; all by default.
	NodeSelector *metav1.LabelSelector `json:"nodeSelector,omitempty"`
	// EvictableNamespaces and PodSelectors bound the pods that may leave.
	EvictableNamespaces *podselection.Namespaces `json:"evictableNamespaces,omitempty"`
	PodSelectors        []podselection.Selector  `json:"podSelectors,omitempty"`
	// NodeFit evicts only pods that fit on another node; default true.
	NodeFit *bool `json:"nodeFit,omitempty"`
	// Resources that are compared; default cpu and memory.
	Resources []corev1.ResourceName `json:"resources,omitempty"`
	// ImbalanceThreshold is the standard deviation above which a node is imbalanced, 0 to 1; default 0.15.
	ImbalanceThreshold *float64 `json:"imbalanceThreshold,omitempty"`
	// MinImprovementThreshold is by how much more than this a pod must lower the standard deviation, 0 to 1; default 0.02.
	MinImprovementThreshold *float64 `json:"minImprovementThreshold,omitempty"`
}

// SetDefaults fills in what the configuration leaves open.
func SetDefaults(args *Args) {
	setDefault(&args.Paused, false)
	setDefault(&args.DryRun, false)
	setDefault(&args.NodeFit, true)
	setDefault(&args.ImbalanceThreshold, 0.15)
	setDefault(&args.MinImprovementThreshold, 0.02)
	if len(args.Resources) == 0 {
		args.Resources = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}
	}
}

func setDefault[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

// Validate reports every value of args that is out of its range, with the path of its field. Defaults must be set.
func Validate(args *Args) field.ErrorList {
	errs := podselection.ValidateLabels(field.NewPath("nodeSelector"), args.NodeSelector)
	errs = append(errs, podselection.Validate(args.EvictableNamespaces, args.PodSelectors)...)
	seen := map[corev1.ResourceName]bool{}
	for i, name := range args.Resources {
		switch path := field.NewPath("resources").Index(i); {
		case name == "":
			errs = append(errs, field.Invalid(path, "", "must not be an empty resource name"))
		case seen[name]:
			errs = append(errs, field.Duplicate(path, name))
		}
		seen[name] = true
	}
	if len(args.Resources) < 2 {
		errs = append(errs, field.Invalid(field.NewPath("resources"), args.Resources, "must be two resources at least"))
	}
	for _, threshold := range []struct {
		name  string
		value float64
	}{{"imbalanceThreshold", *args.ImbalanceThreshold}, {"minImprovementThreshold", *args.MinImprovementThreshold}} {
		if !(threshold.value >= 0 && threshold.value <= 1) {
			errs = append(errs, field.Invalid(field.NewPath(threshold.name), threshold.value, "must be between 0 and 1"))
		}
	}
	return errs
}
