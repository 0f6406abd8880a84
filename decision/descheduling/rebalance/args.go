package rebalance

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PluginName is the plugin of koord-descheduler that applies the decision.
const PluginName = "LoadAwareRebalancing"

// Kind of the plugin arguments, in group and version descheduler/v1alpha2.
const Kind = PluginName + "Args"

// Mode says how moves are found.
type Mode string

// The modes.
const (
	// Planned plans each move with its target, and accepts it only if the load of all nodes is better for it.
	Planned Mode = "Planned"
	// Upstream evicts from overutilized nodes as LowNodeLoad does, and leaves the target to the scheduler.
	Upstream Mode = "Upstream"
)

// Review says whether koord-scheduler is asked about the planned moves.
type Review string

// The reviews.
const (
	// ReviewRequired moves what koord-scheduler confirmed. While it cannot be asked, no pod is moved.
	ReviewRequired Review = "Required"
	// ReviewPreferred moves what the requests, taints and affinities of nodes and pods admit while koord-scheduler cannot be asked.
	ReviewPreferred Review = "Preferred"
	// ReviewNever does not ask koord-scheduler: for clusters in which another scheduler places the pods.
	ReviewNever Review = "Never"
)

// Args configures the planner. A nil pointer or an empty value stands for the default that SetDefaults fills in.
type Args struct {
	metav1.TypeMeta `json:",inline"`

	// Paused makes the plugin do nothing; default false.
	Paused bool `json:"paused,omitempty"`
	// DryRun plans and reports moves without evicting; default false.
	DryRun bool `json:"dryRun,omitempty"`
	// Mode is Planned or Upstream; default Planned.
	Mode Mode `json:"mode,omitempty"`
	// NodeSelector selects the nodes that pods are moved between; all by default.
	NodeSelector *metav1.LabelSelector `json:"nodeSelector,omitempty"`
	// NodeMetricExpirationSeconds is the age from which a NodeMetric is not used; default 180, 1 to 86400.
	NodeMetricExpirationSeconds *int64 `json:"nodeMetricExpirationSeconds,omitempty"`

	// SchedulerReview says whether koord-scheduler is asked about the planned moves: Required, Preferred or Never; default Required.
	SchedulerReview Review `json:"schedulerReview,omitempty"`

	// HighThresholds in percent of allocatable, above which a node is overutilized, 1 to 100; default cpu 75 and memory 80.
	HighThresholds map[corev1.ResourceName]int64 `json:"highThresholds,omitempty"`
	// LowThresholds in percent of allocatable, below which a node takes pods in the mode Upstream, 1 to 100; default cpu 45 and memory 55.
	// The mode Planned compares targets instead.
	LowThresholds map[corev1.ResourceName]int64 `json:"lowThresholds,omitempty"`
	// ResourceWeights of the potential, 1 to 100 each; default 1 for each resource with a threshold.
	ResourceWeights map[corev1.ResourceName]int64 `json:"resourceWeights,omitempty"`
	// TargetMarginPercent is how far targets stay below all thresholds, 0 to 50; default 5.
	TargetMarginPercent *int64 `json:"targetMarginPercent,omitempty"`
	// VarianceWeight weighs the spread of the load over nodes against the overload of single nodes, 0 to 100; default 0.1.
	VarianceWeight *float64 `json:"varianceWeight,omitempty"`
	// CostWeight is by how much the potential must fall for a move of cost 1, 0 to 100; default 0.001. An ordinary pod costs about 1.
	CostWeight *float64 `json:"costWeight,omitempty"`
	// MinImprovement is by how much the potential must fall beyond the cost of the move, 0 to 100; default 0.0001.
	MinImprovement *float64 `json:"minImprovement,omitempty"`
	// Horizon is how far ahead the load is predicted, 1m to 24h; default 1h. Jobs that end earlier are worth less to move.
	Horizon *metav1.Duration `json:"horizon,omitempty"`

	// ResizeInPlace lowers the CPU limits of jobs on overutilized nodes in place, before pods are moved, and gives them back when the load has
	// fallen; default true. With false, limits that were lowered are given back.
	ResizeInPlace *bool `json:"resizeInPlace,omitempty"`

	// CoolDown is how long a pod stays on the node that it was moved to, 0 to 168h; default 1h. It is the least time between two moves
	// of one pod.
	CoolDown *metav1.Duration `json:"coolDown,omitempty"`
	// HistoryWindow is how long a workload does not return to a node that it was moved off, and how long moves are remembered to find
	// workloads that go in circles; at least coolDown and at most 720h; default 24h.
	HistoryWindow *metav1.Duration `json:"historyWindow,omitempty"`
	// MaxMovesPerReplica within the history window, above which a workload is not moved, 1 to 1000; default 6.
	MaxMovesPerReplica *int64 `json:"maxMovesPerReplica,omitempty"`

	// MaxMovesPerPass bounds the moves of one pass, 1 to 10000; default 100.
	MaxMovesPerPass *int64 `json:"maxMovesPerPass,omitempty"`
	// MaxMovesPerNode bounds the moves off one node in a pass, and those onto one node, 1 to 1000; default 2.
	MaxMovesPerNode *int64 `json:"maxMovesPerNode,omitempty"`
	// MaxMovesPerWorkload bounds the moves of pods of one workload in a pass, 1 to 1000; default 1.
	MaxMovesPerWorkload *int64 `json:"maxMovesPerWorkload,omitempty"`
	// MaxTargetsPerPod bounds the nodes for which a pod's feasibility is asked in a pass, 1 to 10000; default 64.
	MaxTargetsPerPod *int64 `json:"maxTargetsPerPod,omitempty"`
}

// DefaultArgs returns Args with every default filled in.
func DefaultArgs() *Args {
	args := &Args{}
	SetDefaults(args)
	return args
}

// SetDefaults fills in what the configuration leaves open.
func SetDefaults(args *Args) {
	if args.Mode == "" {
		args.Mode = Planned
	}
	if args.SchedulerReview == "" {
		args.SchedulerReview = ReviewRequired
	}
	if len(args.HighThresholds) == 0 {
		args.HighThresholds = map[corev1.ResourceName]int64{corev1.ResourceCPU: 75, corev1.ResourceMemory: 80}
	}
	if len(args.LowThresholds) == 0 {
		args.LowThresholds = map[corev1.ResourceName]int64{corev1.ResourceCPU: 45, corev1.ResourceMemory: 55}
	}
	weights := make(map[corev1.ResourceName]int64, len(args.HighThresholds))
	for name := range args.HighThresholds {
		weights[name] = 1
	}
	for name, weight := range args.ResourceWeights {
		weights[name] = weight
	}
	args.ResourceWeights = weights
	fill(&args.NodeMetricExpirationSeconds, 180)
	fill(&args.TargetMarginPercent, 5)
	fill(&args.VarianceWeight, 0.1)
	fill(&args.CostWeight, 0.001)
	fill(&args.MinImprovement, 0.0001)
	fill(&args.Horizon, metav1.Duration{Duration: time.Hour})
	fill(&args.ResizeInPlace, true)
	fill(&args.CoolDown, metav1.Duration{Duration: time.Hour})
	fill(&args.HistoryWindow, metav1.Duration{Duration: 24 * time.Hour})
	fill(&args.MaxMovesPerReplica, 6)
	fill(&args.MaxMovesPerPass, 100)
	fill(&args.MaxMovesPerNode, 2)
	fill(&args.MaxMovesPerWorkload, 1)
	fill(&args.MaxTargetsPerPod, 64)
}

// LongestHistory is the longest HistoryWindow of the arguments, and its default without any. Defaults must be set.
func LongestHistory(all []*Args) time.Duration {
	if len(all) == 0 {
		return DefaultArgs().HistoryWindow.Duration
	}
	longest := time.Duration(0)
	for _, args := range all {
		longest = max(longest, args.HistoryWindow.Duration)
	}
	return longest
}

func fill[T any](field **T, fallback T) {
	if *field == nil {
		*field = &fallback
	}
}
