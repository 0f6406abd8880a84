// Package qos is the features of the agent that set cgroups: each asks its decision what the node is to be like, and says it as
// desired values. Nothing here writes; see package executor.
package qos
