package objects

import (
	"cmp"
	"fmt"
	"strings"

	"koordinator.sh/koord/decision/descheduling/lownodeload"
	"koordinator.sh/koord/decision/descheduling/rebalance"
)

// everything is the threshold, in percent, of a resource that the configuration gives none.
const everything = 100

// loadMessage has the usage and thresholds by which LowNodeLoad judged a node: of an overutilized node those that are exceeded, of an
// underutilized one the low thresholds, and of others both. A resource without thresholds is left out.
func loadMessage(node *lownodeload.NodeTrace) string {
	var parts []string
	switch node.Class {
	case lownodeload.Unknown:
		return node.Problem
	case lownodeload.High:
		return strings.Join(exceeded("", node.Usage), ", ")
	case lownodeload.ProdHigh:
		return strings.Join(exceeded("prod ", node.ProdUsage), ", ")
	case lownodeload.Low, lownodeload.BothLow:
		for _, one := range node.Usage {
			if one.LowPercent >= 0 && one.LowPercent < everything {
				parts = append(parts, within(string(one.Resource), one.UsedPercent, one.LowPercent))
			}
		}
	default:
		parts = between(node.Usage)
		if node.Unschedulable {
			parts = append(parts, "the node is cordoned")
		}
	}
	return strings.Join(parts, ", ")
}

func between(usage []lownodeload.Comparison) []string {
	var parts []string
	for _, one := range usage {
		switch {
		case one.HighPercent < 0 || one.LowPercent >= everything:
		case one.LowPercent == one.HighPercent:
			parts = append(parts, within(string(one.Resource), one.UsedPercent, one.HighPercent))
		default:
			parts = append(parts, fmt.Sprintf("%s %.0f%% (%.0f%% to %.0f%%)", one.Resource, one.UsedPercent, one.LowPercent, one.HighPercent))
		}
	}
	return parts
}

func exceeded(prefix string, usage []lownodeload.Comparison) []string {
	var parts []string
	for _, one := range usage {
		if one.Over {
			parts = append(parts, above(prefix+string(one.Resource), one.UsedPercent, one.HighPercent))
		}
	}
	return parts
}

// plannedMessage has the usage and thresholds by which LoadAwareRebalancing judged a node.
func plannedMessage(in *rebalance.Input, n int, class *rebalance.NodeClass) string {
	if class.Class == rebalance.Unknown {
		return cmp.Or(problemOf(&in.Nodes[n]), "its usage or its allocatable cannot be used")
	}
	var parts []string
	for r, name := range in.Resources {
		used, high := class.Load[r]*100, float64(in.Args.HighThresholds[name])
		switch {
		case class.Over[r]:
			parts = append(parts, above(string(name), used, high))
		case class.Class == rebalance.Normal:
			parts = append(parts, within(string(name), used, high))
		}
	}
	return strings.Join(parts, ", ")
}

// within says that a usage is at or below a threshold, both in percent.
func within(what string, used, threshold float64) string {
	return fmt.Sprintf("%s %.0f%% <= %.0f%%", what, used, threshold)
}

// above says that a usage is above a threshold, both in percent, with as many digits as it takes to see it.
func above(what string, used, threshold float64) string {
	const most = 2
	for digits := 0; ; digits++ {
		left, right := fmt.Sprintf("%.*f", digits, used), fmt.Sprintf("%.*f", digits, threshold)
		if left != right || digits == most {
			return fmt.Sprintf("%s %s%% > %s%%", what, left, right)
		}
	}
}
