// Package loadaware decides whether a node is too busy for a pod, and how much better than others it would take it.
//
// The decision compares what a node really uses (its NodeMetric), plus what pods placed there a moment ago will use
// (an estimate, until the NodeMetric reports them), plus what the pod in question will use (the same estimate), with
// thresholds in percent of the node's raw allocatable.
//
// The work is cut by how often its inputs change. A Policy is compiled once from Args. A pod is estimated once per
// scheduling cycle (Policy.Estimate). A node is digested when its Node, NodeMetric or pods change (Policy.Observe).
// Filter and Score then only add and compare a few integers. With a Trace attached, Filter records the operands of the
// same comparisons; there is no second implementation for explanations.
package loadaware
