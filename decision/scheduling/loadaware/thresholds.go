package loadaware

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
)

// capacity is what usage is measured against: the node's allocatable before amplification.
func (p *Policy) capacity(node *corev1.Node) []int64 {
	capacity := p.amounts(node.Status.Allocatable)
	raw, err := extension.GetNodeRawAllocatable(node.Annotations)
	if err != nil {
		return capacity
	}
	for i, name := range p.resources {
		if quantity, found := raw[name]; found && quantity.Sign() > 0 {
			capacity[i] = amount(name, quantity)
		}
	}
	return capacity
}

// thresholdsOf returns the policy's thresholds, with each group that the node's annotation sets in place of the
// policy's. An annotation that cannot be read, or has a value out of range, changes nothing.
func (p *Policy) thresholdsOf(node *corev1.Node) thresholds {
	custom, err := extension.GetCustomUsageThresholds(node.Annotations)
	if err == nil && custom != nil {
		err = checkCustom(custom)
	}
	result := p.defaults
	switch {
	case err != nil:
		result.problem = err.Error()
		return result
	case custom == nil:
		return result
	}
	if len(custom.UsageThresholds) > 0 {
		result.plain, result.fromNode = p.enabled(custom.UsageThresholds), true
	}
	if len(custom.ProdUsageThresholds) > 0 {
		result.prod, result.fromNode = p.enabled(custom.ProdUsageThresholds), true
	}
	if aggregated := custom.AggregatedUsage; aggregated != nil && len(aggregated.UsageThresholds) > 0 && aggregated.UsageAggregationType != "" {
		result.aggregated, result.fromNode = p.enabled(aggregated.UsageThresholds), true
		result.window = window{aggregation: string(aggregated.UsageAggregationType)}
		if aggregated.UsageAggregatedDuration != nil {
			result.window.duration = aggregated.UsageAggregatedDuration.Duration
		}
	}
	return result
}

// ComparesPercentiles says whether a percentile of the node's usage is compared with thresholds: the policy's, or those in the node's
// annotation.
func (p *Policy) ComparesPercentiles(node *corev1.Node) bool {
	if node.Annotations[extension.AnnotationCustomUsageThresholds] == "" {
		return p.defaults.aggregated != nil
	}
	own := p.thresholdsOf(node)
	return own.aggregated != nil
}

func checkCustom(custom *extension.CustomUsageThresholds) error {
	groups := []map[corev1.ResourceName]int64{custom.UsageThresholds, custom.ProdUsageThresholds}
	if aggregated := custom.AggregatedUsage; aggregated != nil {
		groups = append(groups, aggregated.UsageThresholds)
		if kind := string(aggregated.UsageAggregationType); kind != "" && !slices.Contains(aggregationTypes, kind) {
			return fmt.Errorf("annotation %q: %.40q is not an aggregation type; choose one of %s",
				extension.AnnotationCustomUsageThresholds, kind, strings.Join(aggregationTypes, ", "))
		}
		if window := aggregated.UsageAggregatedDuration; window != nil && window.Duration < 0 {
			return fmt.Errorf("annotation %q: usageAggregatedDuration %s is negative", extension.AnnotationCustomUsageThresholds, window.Duration)
		}
	}
	for _, group := range groups {
		for _, name := range sortedNames(group) {
			if group[name] < 0 || group[name] > 100 {
				return fmt.Errorf("annotation %q: threshold %d of %q is not between 0 and 100",
					extension.AnnotationCustomUsageThresholds, group[name], name)
			}
		}
	}
	return nil
}

// Thresholds returns those in force on the node under a profile, for callers that propose
// to change them.
func (p *Policy) Thresholds(n *Node, profile Profile) map[corev1.ResourceName]int64 {
	vector := n.thresholds.plain
	switch profile {
	case Prod:
		vector = n.thresholds.prod
	case Aggregated:
		vector = n.thresholds.aggregated
	}
	result := map[corev1.ResourceName]int64{}
	for i, threshold := range vector {
		if threshold > 0 {
			result[p.resources[i]] = threshold
		}
	}
	return result
}
