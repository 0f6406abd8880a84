// Package amplification decides by how much a node is shown larger than it is: which ratios its annotation states, and what
// its allocatable becomes when the kubelet writes its status.
package amplification
