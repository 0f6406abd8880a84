// Package node has this machine as the node of a sandbox, for benchmarks whose pods have to run. It needs root, Linux and
// `make real-node`.
package node
