package objects

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"koordinator.sh/koord/decision/config/configuration"
	"koordinator.sh/koord/decision/descheduling/loopguard"
	"koordinator.sh/koord/decision/descheduling/lownodeload"
	"koordinator.sh/koord/decision/descheduling/rebalance"
)

// Thresholds are those by which pods are moved for the load of their nodes, one for each plugin and node pool. A plugin that is paused
// moves nothing and has none; a selector that cannot be read selects all nodes.
func (d *Descheduler) Thresholds() []configuration.Descheduler {
	var out []configuration.Descheduler
	for i := range d.Profiles {
		profile := &d.Profiles[i]
		within := func(selectors ...*metav1.LabelSelector) func(*corev1.Node) bool {
			return selectedBy(append([]labels.Selector{d.Nodes, profile.Nodes}, readable(selectors)...))
		}
		if args := profile.LowNodeLoad; args != nil && (args.Paused == nil || !*args.Paused) {
			out = append(out, lowNodeLoad(args, within)...)
		}
		if args := profile.Rebalance; args != nil && !args.Paused {
			out = append(out, configuration.Descheduler{Selects: within(args.NodeSelector), Descheduler: rebalancing(args)})
		}
	}
	return out
}

// lowNodeLoad are the thresholds of the default pool and of the node pools. A node is in the first pool that selects it.
func lowNodeLoad(args *lownodeload.Args, within func(...*metav1.LabelSelector) func(*corev1.Node) bool) []configuration.Descheduler {
	var out []configuration.Descheduler
	var before []func(*corev1.Node) bool
	add := func(pool string, settings *lownodeload.PoolSettings, selector *metav1.LabelSelector) {
		selects, taken := within(selector), before
		out = append(out, configuration.Descheduler{Descheduler: loopguard.Descheduler{
			Enabled: true, Plugin: lownodeload.PluginName, Pool: pool, Deviation: settings.UseDeviationThresholds != nil && *settings.UseDeviationThresholds,
			Low: settings.LowThresholds, High: settings.HighThresholds, ProdLow: settings.ProdLowThresholds, ProdHigh: settings.ProdHighThresholds,
		}, Selects: func(node *corev1.Node) bool {
			for _, other := range taken {
				if other(node) {
					return false
				}
			}
			return selects(node)
		}})
		before = append(before, selects)
	}
	for i := range args.NodePools {
		add(args.NodePools[i].Name, &args.NodePools[i].PoolSettings, args.NodePools[i].NodeSelector)
	}
	add("", &args.PoolSettings, args.NodeSelector)
	return out
}

func rebalancing(args *rebalance.Args) loopguard.Descheduler {
	out := loopguard.Descheduler{Enabled: true, Plugin: rebalance.PluginName, Planned: args.Mode == rebalance.Planned, High: percentages(args.HighThresholds)}
	if args.TargetMarginPercent != nil {
		out.Margin = float64(*args.TargetMarginPercent)
	}
	if !out.Planned {
		out.Low = percentages(args.LowThresholds) // the planner compares targets instead
	}
	return out
}

func percentages(from map[corev1.ResourceName]int64) map[corev1.ResourceName]float64 {
	out := make(map[corev1.ResourceName]float64, len(from))
	for name, percent := range from {
		out[name] = float64(percent)
	}
	return out
}

// readable are the selectors that are set and valid.
func readable(selectors []*metav1.LabelSelector) []labels.Selector {
	var out []labels.Selector
	for _, selector := range selectors {
		if read, err := nodesOf(selector); err == nil {
			out = append(out, read)
		}
	}
	return out
}

func selectedBy(selectors []labels.Selector) func(*corev1.Node) bool {
	return func(node *corev1.Node) bool {
		for _, selector := range selectors {
			if !selector.Matches(labels.Set(node.Labels)) {
				return false
			}
		}
		return true
	}
}
