// Package report publishes what an agent measured: Status makes the status of a NodeMetric of it, without any I/O, and
// Writer sends that to the API server. Topology and TopologyWriter do the same for how the machine is built, which is the
// node's NodeResourceTopology.
package report
