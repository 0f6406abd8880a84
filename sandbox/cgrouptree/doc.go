// Package cgrouptree makes, fills, ends and removes cgroups of the machine, of either version, by containerd's library. It is what the
// sandbox's real node, tests and benchmarks share. The agent does not use it: what the agent sets of cgroups that are kubelet's is
// given back, see package executor.
package cgrouptree
