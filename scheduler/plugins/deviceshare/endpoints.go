package deviceshare

import (
	"context"

	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/decision/scheduling/device"
	"koordinator.sh/koord/scheduler/services"
)

var _ services.Provider = &Plugin{}

// Endpoints implements services.Provider.
func (p *Plugin) Endpoints() []services.Endpoint {
	return []services.Endpoint{
		{Path: "nodeDeviceSummaries", Answer: func(_ context.Context, call services.Call) (any, error) {
			all := map[string]device.Summary{}
			if !p.state.Any() {
				return all, nil
			}
			nodes, err := call.Nodes.List()
			if err != nil {
				return nil, err
			}
			for _, info := range nodes {
				if summary, found := p.summary(info); found {
					all[info.Node().Name] = summary
				}
			}
			return all, nil
		}},
		{Path: "nodeDeviceSummaries/{name}", Answer: func(_ context.Context, call services.Call) (any, error) {
			info, err := call.Nodes.Get(call.Parameter("name"))
			if err != nil {
				return nil, err
			}
			summary, found := p.summary(info)
			if !found {
				return nil, services.NotFound("cannot find the Device of node %s", info.Node().Name)
			}
			return summary, nil
		}},
	}
}

// summary of a node; false when it has no Device.
func (p *Plugin) summary(info fwk.NodeInfo) (device.Summary, bool) {
	ledger := p.state.Ledger(info)
	if ledger == nil {
		return device.Summary{}, false
	}
	var held []device.Held
	for _, pod := range info.GetPods() {
		if allocation, holds := p.state.Holds(pod.GetPod()); holds {
			held = append(held, device.Held{Pod: pod.GetPod(), Allocation: allocation})
		}
	}
	return ledger.Summary(held), true
}
