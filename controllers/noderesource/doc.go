// Package noderesource offers batch and mid resources on every node: it runs decision/noderesource/overcommit over the node, its pods
// and its NodeMetric, and writes the result to node.status once it differs by more than the thresholds allow.
//
// A reclaim threshold above 100 % lets a node offer more than it has left. That is valid, and reported: in a Warning event on the node,
// in metric slo_controller_node_extended_resource_beyond_node, and among the findings of its NodeExplanation.
//
// With them it writes what the node's cpus are worth (decision/noderesource/normalization), by how much the node is shown larger than it
// is (decision/noderesource/amplification), and its devices (decision/noderesource/deviceresource): all in one patch, and only what differs.
//
// It looks again without an event when time alone changes the answer: when measurements turn too old to be believed, and
// when a small difference has waited long enough.
package noderesource
