// Package realnode tests that this machine can be a node of a sandbox: pods really run on it, the agent measures them, processes
// that are killed come back, and nothing is left when the sandbox is down. It needs root, runc and the programs of
// `make build real-node`, and is skipped where it has not got them.
package realnode
