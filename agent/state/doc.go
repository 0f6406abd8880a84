// Package state is what the cluster wants of this node: its Node, NodeSLO, NodeMetric and NodeResourceTopology, and its pods, as
// the API server said last. While that is away the latest known stays.
package state
