package nodepods

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	podutil "sigs.k8s.io/descheduler/pkg/descheduler/pod"
	frameworktypes "sigs.k8s.io/descheduler/pkg/framework/types"

	"koordinator.sh/koord/decision/descheduling/placement"
)

// NotEvictable is why a pod stays that the evictor refuses.
const NotEvictable = "it is not evictable"

// List returns nodes with the pods on them that have not ended.
func List(handle frameworktypes.Handle, nodes []*corev1.Node) ([]placement.NodePods, error) {
	out := make([]placement.NodePods, 0, len(nodes))
	for _, node := range nodes {
		pods, err := podutil.ListPodsOnANode(node.Name, handle.GetPodsAssignedToNodeFunc(), nil)
		if err != nil {
			return nil, fmt.Errorf("list the pods of node %s: %w", node.Name, err)
		}
		out = append(out, placement.NodePods{Node: node, Pods: pods})
	}
	return out, nil
}

// Protected are the pods that the evictor refuses.
func Protected(evictor frameworktypes.Evictor, nodes []placement.NodePods) map[types.UID]string {
	out := map[types.UID]string{}
	for i := range nodes {
		for _, pod := range nodes[i].Pods {
			if !evictor.Filter(pod) {
				out[pod.UID] = NotEvictable
			}
		}
	}
	return out
}

// DryRun is true for a handle with which nothing may be written.
func DryRun(handle frameworktypes.Handle) bool {
	dry, ok := handle.(interface{ DryRun() bool })
	return ok && dry.DryRun()
}
