package loadaware

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Policy is Args made ready for evaluation: resources are numbered, and every map became a slice over those numbers.
// A Policy is read-only and safe for concurrent use.
type Policy struct {
	args      *Args
	resources []corev1.ResourceName
	weights   []int64
	factors   []int64
	defaults  thresholds
	// scoreWindow selects the percentile that scores are made of; its aggregation type is empty for the latest usage.
	scoreWindow window
	expiration  time.Duration
}

// thresholds in percent by resource number; 0 disables a resource, nil a whole profile.
type thresholds struct {
	plain, prod, aggregated []int64
	window                  window
	// problem says why the node's own thresholds were ignored.
	problem string
	// fromNode is true when the node's annotation changed something.
	fromNode bool
}

// window selects one percentile of an aggregation window.
type window struct {
	aggregation string
	duration    time.Duration
}

// NewPolicy compiles args. Defaults are filled in on a copy; values out of range are the caller's to refuse (Validate).
func NewPolicy(args *Args) *Policy {
	filled := Args{}
	if args != nil {
		filled = *args
		filled.EstimatedScalingFactors = maps.Clone(args.EstimatedScalingFactors)
	}
	SetDefaults(&filled)
	policy := &Policy{args: &filled, resources: resourcesOf(&filled)}
	policy.weights = policy.vector(filled.ResourceWeights)
	policy.factors = policy.vector(filled.EstimatedScalingFactors)
	policy.expiration = time.Duration(*filled.NodeMetricExpirationSeconds) * time.Second
	policy.defaults = thresholds{plain: policy.enabled(filled.UsageThresholds), prod: policy.enabled(filled.ProdUsageThresholds)}
	if aggregated := filled.Aggregated; aggregated != nil {
		if aggregated.UsageAggregationType != "" {
			policy.defaults.aggregated = policy.enabled(aggregated.UsageThresholds)
			policy.defaults.window = window{aggregated.UsageAggregationType, aggregated.UsageAggregatedDuration.Duration}
		}
		policy.scoreWindow = window{aggregated.ScoreAggregationType, aggregated.ScoreAggregatedDuration.Duration}
	}
	return policy
}

// Args the policy was compiled from, with defaults. It must not be changed.
func (p *Policy) Args() *Args { return p.args }

// Resources in the order of the policy's vectors: cpu, memory, then by name. It must not be changed.
func (p *Policy) Resources() []corev1.ResourceName { return p.resources }

func resourcesOf(args *Args) []corev1.ResourceName {
	var others []corev1.ResourceName
	others = append(others, args.SupportedResources...)
	sources := []map[corev1.ResourceName]int64{args.ResourceWeights, args.UsageThresholds, args.ProdUsageThresholds, args.EstimatedScalingFactors}
	if args.Aggregated != nil {
		sources = append(sources, args.Aggregated.UsageThresholds)
	}
	for _, values := range sources {
		others = append(others, sortedNames(values)...)
	}
	slices.Sort(others)
	resources := []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}
	for _, name := range slices.Compact(others) {
		if name != corev1.ResourceCPU && name != corev1.ResourceMemory {
			resources = append(resources, name)
		}
	}
	return resources
}

func (p *Policy) vector(values map[corev1.ResourceName]int64) []int64 {
	vector := make([]int64, len(p.resources))
	for i, name := range p.resources {
		vector[i] = values[name]
	}
	return vector
}

// enabled is vector, or nil when no resource has a threshold above zero.
func (p *Policy) enabled(values map[corev1.ResourceName]int64) []int64 {
	vector := p.vector(values)
	if !slices.ContainsFunc(vector, func(threshold int64) bool { return threshold > 0 }) {
		return nil
	}
	return vector
}
