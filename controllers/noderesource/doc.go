// Package noderesource offers batch and mid resources on every node: it runs decision/overcommit over the node, its pods
// and its NodeMetric, and writes the result to node.status once it differs by more than the thresholds allow.
//
// It looks again without an event when time alone changes the answer: when measurements turn too old to be believed, and
// when a small difference has waited long enough.
package noderesource
