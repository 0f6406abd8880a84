// Package defaultprebind writes what the plugins of a scheduling cycle decided for a pod into its annotations: once, however
// many plugins decided something.
//
// Enabled as a Bind plugin it needs no extra request: a Binding may carry annotations, and the API server merges them
// into the pod in the same write that assigns the node. A pod is then never bound without its allocations, nor allocated
// without being bound, whatever fails in between. Enabled for PreBind only, as in configurations written for upstream, it
// sends one merge patch before the binding.
package defaultprebind
