// Package executor brings the cgroups of a node to what the agent's features want, and back. A feature declares all that it
// wants; what it stops wanting gets the value back that it had before. Where two features want different values of one file,
// the one that ranks higher has it. Values that are there already are not written.
//
// Writes are ordered so that no cgroup ever has more than the one above it: what grows is written from the top down, then what
// shrinks from the bottom up. Every write is recorded in the audit log.
package executor
