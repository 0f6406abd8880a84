package loadaware

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/scheduler/services"
)

var _ services.Provider = &Plugin{}

// nodeAssignment is what the plugin counts on a node, in upstream's fields.
type nodeAssignment struct {
	Pods          []podAssignment     `json:"pods,omitempty"`
	ProdUsage     corev1.ResourceList `json:"prodUsage,omitempty"`
	NodeDelta     corev1.ResourceList `json:"nodeDelta,omitempty"`
	ProdDelta     corev1.ResourceList `json:"prodDelta,omitempty"`
	NodeDeltaPods []string            `json:"nodeDeltaPods,omitempty"`
	ProdDeltaPods []string            `json:"prodDeltaPods,omitempty"`
}

type podAssignment struct {
	// Timestamp is when the node was chosen, or the pod first seen there.
	Timestamp time.Time             `json:"timestamp"`
	Pod       services.PodReference `json:"pod"`
	// Estimated is what the pod is expected to use.
	Estimated corev1.ResourceList `json:"estimated,omitempty"`
}

// Endpoints implements services.Provider.
func (p *Plugin) Endpoints() []services.Endpoint {
	return []services.Endpoint{{Path: "node/{nodeName}", Answer: func(_ context.Context, call services.Call) (any, error) {
		info, err := call.Nodes.Get(call.Parameter("nodeName"))
		if err != nil {
			return nodeAssignment{}, nil // as upstream answers for a node that is not known
		}
		outlook := p.policy.Outlook(p.observe(info.Node()))
		answer := nodeAssignment{
			ProdUsage: outlook.ProdUsage, NodeDelta: outlook.NodeDelta, ProdDelta: outlook.ProdDelta,
			NodeDeltaPods: outlook.NodeDeltaPods, ProdDeltaPods: outlook.ProdDeltaPods,
		}
		for _, assigned := range p.state.Assigned(info.Node().Name).Pods {
			answer.Pods = append(answer.Pods, podAssignment{
				Timestamp: assigned.AssignedAt, Pod: services.ReferTo(assigned.Pod), Estimated: p.policy.ResourceList(p.policy.Estimate(assigned.Pod).Usage),
			})
		}
		return answer, nil
	}}}
}
