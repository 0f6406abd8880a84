package nodenumaresource

import (
	"context"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/scheduling/numa"
	"koordinator.sh/koord/scheduler/services"
)

var _ services.Provider = &Plugin{}

// nodeCPUs is what a node has left of CPUs and NUMA zones, in upstream's fields as far as they are not its own structures.
type nodeCPUs struct {
	Name               string                       `json:"name"`
	NUMATopologyPolicy extension.NUMATopologyPolicy `json:"numaTopologyPolicy,omitempty"`
	Total              []extension.NUMANodeResource `json:"numaNodeResources"`
	Remaining          []extension.NUMANodeResource `json:"remainingNUMANodeResources"`
	Allocated          []extension.NUMANodeResource `json:"allocatedNUMANodeResources"`
	AvailableCPUs      string                       `json:"availableCPUs"`
	AllocatedCPUs      string                       `json:"allocatedCPUs"`
	AllocatedPods      []podCPUs                    `json:"allocatedPods"`
	Problems           []string                     `json:"problems,omitempty"`
}

type podCPUs struct {
	Namespace string                       `json:"namespace"`
	Name      string                       `json:"name"`
	UID       string                       `json:"uid"`
	CPUSet    string                       `json:"cpuset,omitempty"`
	Resources []extension.NUMANodeResource `json:"numaNodeResources,omitempty"`
}

// Endpoints implements services.Provider.
func (p *Plugin) Endpoints() []services.Endpoint {
	return []services.Endpoint{{Path: "nodes/{nodeName}", Answer: func(_ context.Context, call services.Call) (any, error) {
		info, err := call.Nodes.Get(call.Parameter("nodeName"))
		if err != nil {
			return nil, err
		}
		ledger := p.state.Ledger(info)
		if ledger == nil || ledger.Node == nil || ledger.Node.CPUs == nil && len(ledger.Node.Zones) == 0 {
			return nil, services.NotFound("node %s reports no CPU topology; see its NodeResourceTopology", info.Node().Name)
		}
		return answerOf(ledger), nil
	}}}
}

func answerOf(ledger *numa.Ledger) nodeCPUs {
	node := ledger.Node
	answer := nodeCPUs{
		Name: node.Name, NUMATopologyPolicy: node.Policy, AvailableCPUs: ledger.Free.String(), AllocatedCPUs: ledger.Owned.String(),
		Remaining: []extension.NUMANodeResource{}, Allocated: []extension.NUMANodeResource{}, AllocatedPods: []podCPUs{}, Problems: node.Problems,
	}
	var total, free, taken []numa.Share
	for i, zone := range node.Zones {
		left := ledger.Zones[i].Free
		used := numa.Amounts{}
		for name, amount := range zone.Total {
			if amount > left[name] {
				used[name] = amount - left[name]
			}
		}
		total, free, taken = append(total, numa.Share{Zone: zone.ID, Amounts: zone.Total}), append(free, numa.Share{Zone: zone.ID, Amounts: left}), append(taken, numa.Share{Zone: zone.ID, Amounts: used})
	}
	answer.Total, answer.Remaining, answer.Allocated = written(total), written(free), written(taken)
	for _, holder := range ledger.Holders {
		status := holder.Status()
		answer.AllocatedPods = append(answer.AllocatedPods, podCPUs{
			Namespace: holder.Namespace, Name: holder.Name, UID: string(holder.UID), CPUSet: status.CPUSet, Resources: status.NUMANodeResources,
		})
	}
	return answer
}

// written are shares as annotations write them; never nil.
func written(shares []numa.Share) []extension.NUMANodeResource {
	return append([]extension.NUMANodeResource{}, numa.Allocation{Shares: shares}.Status().NUMANodeResources...)
}
