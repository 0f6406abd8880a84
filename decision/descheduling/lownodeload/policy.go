package lownodeload

import (
	"fmt"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Policy is the arguments, compiled once.
type Policy struct {
	paused, dryRun bool
	numberOfNodes  int
	expiration     time.Duration
	cacheTimeout   time.Duration
	include        map[string]bool
	exclude        map[string]bool
	selectors      []labels.Selector
	pools          []pool
	// nodeFit looks for a target for each victim, and reserves the usage of the victim there.
	nodeFit bool
	// requests is the mode of CompileUtilization.
	requests bool
	// perNode is how many pods may leave a node in a pass; 0 is no limit.
	perNode uint
}

// pool is a set of nodes with its thresholds, by the index of resources. A threshold that is not set is negative.
type pool struct {
	name      string
	selector  labels.Selector
	deviation bool
	resources []corev1.ResourceName
	low, high sides
	weights   []int64
	condition AnomalyCondition
	// prod is true when prod pods have thresholds of their own.
	prod bool
}

// sides are one kind of threshold, in percent: of the usage of the node, and of its prod pods.
type sides struct{ node, prod []float64 }

// unset is a threshold that the configuration leaves out.
const unset = -1

// Compile makes a policy of valid arguments with their defaults.
func Compile(args *Args) (*Policy, error) {
	policy := &Policy{
		paused: *args.Paused, dryRun: *args.DryRun, numberOfNodes: int(*args.NumberOfNodes), nodeFit: *args.NodeFit,
		expiration: time.Duration(min(*args.NodeMetricExpirationSeconds, maxSeconds)) * time.Second, cacheTimeout: args.DetectorCacheTimeout.Duration,
	}
	if args.EvictableNamespaces != nil {
		policy.include, policy.exclude = setOf(args.EvictableNamespaces.Include), setOf(args.EvictableNamespaces.Exclude)
	}
	for i := range args.PodSelectors {
		if args.PodSelectors[i].Selector == nil {
			continue
		}
		selector, err := metav1.LabelSelectorAsSelector(args.PodSelectors[i].Selector)
		if err != nil {
			return nil, fmt.Errorf("compile podSelectors[%d] of %s: %w", i, Kind, err)
		}
		policy.selectors = append(policy.selectors, selector)
	}
	for i := range args.NodePools {
		if err := policy.add(&args.NodePools[i]); err != nil {
			return nil, err
		}
	}
	if args.hasThresholds() {
		if err := policy.add(&NodePool{Name: DefaultPool, NodeSelector: args.NodeSelector, PoolSettings: args.PoolSettings}); err != nil {
			return nil, err
		}
	}
	return policy, nil
}

// add compiles a pool.
func (p *Policy) add(from *NodePool) error {
	selector := labels.Everything()
	if from.NodeSelector != nil {
		var err error
		if selector, err = metav1.LabelSelectorAsSelector(from.NodeSelector); err != nil {
			return fmt.Errorf("compile the node selector of node pool %s: %w", from.Name, err)
		}
	}
	settings := &from.PoolSettings
	compiled := pool{
		name: from.Name, selector: selector, deviation: *settings.UseDeviationThresholds, condition: *settings.AnomalyCondition,
		prod: len(settings.ProdLowThresholds)+len(settings.ProdHighThresholds) > 0, resources: settings.resourceNames(),
	}
	for _, name := range compiled.resources {
		low, high := pair(settings.LowThresholds, settings.HighThresholds, name, compiled.deviation)
		prodLow, prodHigh := pair(settings.ProdLowThresholds, settings.ProdHighThresholds, name, compiled.deviation)
		compiled.low.node, compiled.high.node = append(compiled.low.node, low), append(compiled.high.node, high)
		compiled.low.prod, compiled.high.prod = append(compiled.low.prod, prodLow), append(compiled.high.prod, prodHigh)
		compiled.weights = append(compiled.weights, settings.ResourceWeights[name])
	}
	p.pools = append(p.pools, compiled)
	return nil
}

// pair is the thresholds of a resource. One that is left out is 100 %; a resource without a distance from the mean is never over- or
// underutilized.
func pair(low, high Thresholds, name corev1.ResourceName, deviation bool) (lowPercent, highPercent float64) {
	lowPercent, lowSet := low[name]
	highPercent, highSet := high[name]
	if deviation {
		if lowPercent == 0 && highPercent == 0 {
			return unset, unset
		}
		return lowPercent, highPercent
	}
	if !lowSet {
		lowPercent = 100
	}
	if !highSet {
		highPercent = 100
	}
	return math.Min(lowPercent, highPercent), highPercent
}

func setOf(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// selects says whether the policy lets a pod leave; empty when it does.
func (p *Policy) selects(pod *corev1.Pod) string {
	switch {
	case len(p.include) > 0 && !p.include[pod.Namespace], p.exclude[pod.Namespace]:
		return "its namespace is not evictable"
	case len(p.selectors) > 0 && !slices.ContainsFunc(p.selectors, func(selector labels.Selector) bool { return selector.Matches(labels.Set(pod.Labels)) }):
		return "no pod selector matches it"
	}
	return ""
}
