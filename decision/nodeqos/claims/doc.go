// Package claims tells which pods claim CPUs or devices by their annotations that the agent of their node does not give them.
package claims
