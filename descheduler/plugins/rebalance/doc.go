// Package rebalance is the plugin LoadAwareRebalancing: it moves pods from overutilized nodes to planned targets, by the load that is
// predicted from NodeMetrics. decision/descheduling/rebalance decides which.
package rebalance
