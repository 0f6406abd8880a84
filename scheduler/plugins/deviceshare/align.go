package deviceshare

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/decision/scheduling/device"
	"koordinator.sh/koord/decision/scheduling/numa"
)

// NUMAHints implements nodenumaresource.HintProvider: it names the sets of zones from which the node can serve the pod. A
// node that cannot serve it from all of its zones is refused.
func (p *Plugin) NUMAHints(_ context.Context, state fwk.CycleState, _ *corev1.Pod, info fwk.NodeInfo) (map[string][]numa.Hint, *fwk.Status) {
	in, concerned := p.input(state, info)
	if !concerned {
		return nil, nil
	}
	in.Zones = 0
	if refusal := device.Fits(in, nil); refusal != nil {
		return nil, statusOf(refusal)
	}
	return device.Hints(in, in.Ledger.Node().Zones()), nil
}

// CheckNUMAAffinity implements nodenumaresource.HintProvider.
func (p *Plugin) CheckNUMAAffinity(_ context.Context, state fwk.CycleState, _ *corev1.Pod, info fwk.NodeInfo, affinity numa.Hint) *fwk.Status {
	in, concerned := p.input(state, info)
	if !concerned {
		return nil
	}
	in.Zones = affinity.Mask
	return statusOf(device.Fits(in, nil))
}
