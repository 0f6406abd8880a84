// Package claims lists the pods whose annotations claim CPUs or devices that the agent of their node does not give them.
package claims
