// Package agent is the node agent, koordlet: host reads the machine, metrics turns readings into usage over time,
// prediction says what services will not need, and report publishes all of it as the node's NodeMetric and
// NodeResourceTopology. Package fleet runs many agents on simulated machines in one process.
package agent
