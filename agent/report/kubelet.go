package report

import "koordinator.sh/koord/api/extension"

// Kubelet is how the node's kubelet binds pods. The zero value binds none.
type Kubelet struct {
	// CPUManager policy, its options, and the CPUs it keeps for the system.
	CPUManager extension.KubeletCPUManagerPolicy
	// TopologyPolicy is topologyManagerPolicy of the kubelet's configuration: none, best-effort, restricted or
	// single-numa-node.
	TopologyPolicy string
	// TopologyScope is topologyManagerScope of the kubelet's configuration: container, which is the default, or pod.
	TopologyScope string
	// Pods that the kubelet itself bound to CPUs, in the order in which they are reported.
	Pods []extension.PodCPUAlloc
}

// topologyNone is the policy of a kubelet that aligns nothing.
const topologyNone = "None"

// topologyPolicies and topologyScopes are how a NodeResourceTopology spells the kubelet's values.
var (
	topologyPolicies = map[string]string{"best-effort": "BestEffort", "restricted": "Restricted", "single-numa-node": "SingleNUMANode"}
	topologyScopes   = map[string]string{"": "ContainerLevel", "container": "ContainerLevel", "pod": "PodLevel"}
)

// topologyPolicy names the policy and the scope in one word, such as SingleNUMANodePodLevel; None for values that no
// kubelet has.
func (k Kubelet) topologyPolicy() string {
	policy, scope := topologyPolicies[k.TopologyPolicy], topologyScopes[k.TopologyScope]
	if policy == "" || scope == "" {
		return topologyNone
	}
	return policy + scope
}
