package reservation

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
)

// Kind of the plugin arguments, in group and version kubescheduler.config.k8s.io/v1.
const Kind = "ReservationArgs"

// PluginName is the scheduler plugin that applies the decisions.
const PluginName = "Reservation"

// Args configure reservations. The JSON is that of Koordinator's ReservationArgs. What is nil stands for the default.
type Args struct {
	metav1.TypeMeta `json:",inline"`
	// EnablePreemption lets Reservations preempt pods of lower priority; default false.
	EnablePreemption *bool `json:"enablePreemption,omitempty"`
	// MinCandidateNodesPercentage of the nodes tried in a preemption, 0 to 100; default 10.
	MinCandidateNodesPercentage *int32 `json:"minCandidateNodesPercentage,omitempty"`
	// MinCandidateNodesAbsolute of nodes tried in a preemption, 0 and more; default 100.
	MinCandidateNodesAbsolute *int32 `json:"minCandidateNodesAbsolute,omitempty"`
	// ControllerWorkers that bring Reservations up to date, 1 to 100; default 1.
	ControllerWorkers *int64 `json:"controllerWorkers,omitempty"`
	// GCDurationSeconds after its end a Reservation is deleted, 0 and more; default 86400.
	GCDurationSeconds *int64 `json:"gcDurationSeconds,omitempty"`
	// GCIntervalSeconds is accepted for compatibility: a Reservation is deleted when it is due.
	GCIntervalSeconds *int64 `json:"gcIntervalSeconds,omitempty"`
	// DisableGarbageCollection keeps ended Reservations; default false.
	DisableGarbageCollection *bool `json:"disableGarbageCollection,omitempty"`
	// ResyncIntervalSeconds at which each Reservation is looked at although nothing happened, 1 and more; default 60.
	ResyncIntervalSeconds *int64 `json:"resyncIntervalSeconds,omitempty"`
	// PreAllocationConfig governs the choice of pods whose room is reserved ahead.
	PreAllocationConfig *PreAllocationConfig `json:"preAllocationConfig,omitempty"`
	// IgnoredResources are not reserved, whatever a Reservation says.
	IgnoredResources []corev1.ResourceName `json:"ignoredResources,omitempty"`
	// IgnoredResourceGroups are domains of resources that are not reserved.
	IgnoredResourceGroups []string `json:"ignoredResourceGroups,omitempty"`
	// ReservationSelectorIndex is accepted for compatibility: owners are always found by an index.
	ReservationSelectorIndex *SelectorIndex `json:"reservationSelectorIndex,omitempty"`
}

// PreAllocationConfig governs the choice of pods whose room is reserved ahead.
type PreAllocationConfig struct {
	// EnableClusterMode allows Reservations with mode Cluster; default false.
	EnableClusterMode bool `json:"enableClusterMode,omitempty"`
	// ClusterLabelKey marks, with "true", the pods that mode Cluster may choose; default pod.koordinator.sh/is-pre-allocatable.
	ClusterLabelKey string `json:"clusterLabelKey,omitempty"`
	// ClusterPriorityAnnotationKey orders them, higher first; default pod.koordinator.sh/pre-allocatable-priority.
	ClusterPriorityAnnotationKey string `json:"clusterPriorityAnnotationKey,omitempty"`
	// PreferNoPreAllocatedPods prefers nodes with free capacity; default false.
	PreferNoPreAllocatedPods bool `json:"preferNoPreAllocatedPods,omitempty"`
}

// SelectorIndex names labels by which upstream finds owners.
type SelectorIndex struct {
	Enabled     bool     `json:"enabled,omitempty"`
	KeyPrefixes []string `json:"keyPrefixes,omitempty"`
	Keys        []string `json:"keys,omitempty"`
}

// SetDefaults fills in what the configuration leaves open.
func SetDefaults(args *Args) {
	setDefault(&args.EnablePreemption, false)
	setDefault(&args.MinCandidateNodesPercentage, 10)
	setDefault(&args.MinCandidateNodesAbsolute, 100)
	setDefault(&args.ControllerWorkers, 1)
	setDefault(&args.GCDurationSeconds, 86400)
	setDefault(&args.GCIntervalSeconds, 60)
	setDefault(&args.DisableGarbageCollection, false)
	setDefault(&args.ResyncIntervalSeconds, 60)
	if args.PreAllocationConfig == nil {
		args.PreAllocationConfig = &PreAllocationConfig{}
	}
	if args.PreAllocationConfig.ClusterLabelKey == "" {
		args.PreAllocationConfig.ClusterLabelKey = extension.LabelPodPreAllocatable
	}
	if args.PreAllocationConfig.ClusterPriorityAnnotationKey == "" {
		args.PreAllocationConfig.ClusterPriorityAnnotationKey = extension.AnnotationPodPreAllocatablePriority
	}
}

func setDefault[T any](value **T, preset T) {
	if *value == nil {
		*value = &preset
	}
}

// maxSeconds is what fits into a time.Duration.
const maxSeconds = 9223372036

// Validate reports every value that is out of range. Defaults must be set.
func Validate(args *Args) field.ErrorList {
	var problems field.ErrorList
	within := func(name string, value, low, high int64) {
		if value < low || value > high {
			problems = append(problems, field.Invalid(field.NewPath(name), value, rangeText(low, high)))
		}
	}
	within("minCandidateNodesPercentage", int64(*args.MinCandidateNodesPercentage), 0, 100)
	within("minCandidateNodesAbsolute", int64(*args.MinCandidateNodesAbsolute), 0, 1<<31-1)
	if *args.MinCandidateNodesPercentage == 0 && *args.MinCandidateNodesAbsolute == 0 {
		problems = append(problems, field.Invalid(field.NewPath("minCandidateNodesAbsolute"), 0, "must not be 0 when minCandidateNodesPercentage is"))
	}
	within("controllerWorkers", *args.ControllerWorkers, 1, 100)
	within("gcDurationSeconds", *args.GCDurationSeconds, 0, maxSeconds)
	within("gcIntervalSeconds", *args.GCIntervalSeconds, 1, maxSeconds)
	within("resyncIntervalSeconds", *args.ResyncIntervalSeconds, 1, maxSeconds)
	for i, name := range args.IgnoredResources {
		for _, problem := range validation.IsQualifiedName(string(name)) {
			problems = append(problems, field.Invalid(field.NewPath("ignoredResources").Index(i), name, problem))
		}
	}
	for i, group := range args.IgnoredResourceGroups {
		for _, problem := range validation.IsDNS1123Subdomain(group) {
			problems = append(problems, field.Invalid(field.NewPath("ignoredResourceGroups").Index(i), group, problem))
		}
	}
	for name, key := range map[string]string{"clusterLabelKey": args.PreAllocationConfig.ClusterLabelKey, "clusterPriorityAnnotationKey": args.PreAllocationConfig.ClusterPriorityAnnotationKey} {
		for _, problem := range validation.IsQualifiedName(key) {
			problems = append(problems, field.Invalid(field.NewPath("preAllocationConfig", name), key, problem))
		}
	}
	return problems
}

func rangeText(low, high int64) string {
	return validation.InclusiveRangeError(int(low), int(high))
}

// IgnoreOf returns the resources that the arguments ignore.
func IgnoreOf(args *Args) *Ignore {
	if len(args.IgnoredResources) == 0 && len(args.IgnoredResourceGroups) == 0 {
		return nil
	}
	ignore := &Ignore{Resources: map[corev1.ResourceName]bool{}, Groups: map[string]bool{}}
	for _, name := range args.IgnoredResources {
		ignore.Resources[name] = true
	}
	for _, group := range args.IgnoredResourceGroups {
		ignore.Groups[group] = true
	}
	return ignore
}
