package nodenumaresource

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/scheduling/numa"
	"koordinator.sh/koord/scheduler/frameworkext"
	"koordinator.sh/koord/scheduler/recovery"
)

// PreScore skips pods that are neither bound nor aligned on any of the nodes.
func (p *Plugin) PreScore(_ context.Context, state fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo) (status *fwk.Status) {
	defer recovery.Status(Name, recovery.PreScore, pod, &status)
	c := cycleOf(state)
	if c == nil {
		return fwk.NewStatus(fwk.Skip)
	}
	aligns := func(info fwk.NodeInfo) bool {
		return p.state.Node(info.Node()).Policy != extension.NUMATopologyPolicyNone
	}
	if !c.request.Aligned() && !slices.ContainsFunc(nodes, aligns) {
		return fwk.NewStatus(fwk.Skip)
	}
	return nil
}

// Score rates what the pod would leave of the node, or of the zones it would take.
func (p *Plugin) Score(_ context.Context, state fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo) (score int64, status *fwk.Status) {
	defer recovery.Status(Name, recovery.Score, pod, &status)
	c := cycleOf(state)
	if c == nil {
		return 0, nil
	}
	info = frameworkext.NodeOf(state, info)
	hint, _ := Affinity(state, info.Node().Name)
	return numa.Score(p.input(state, c, info), hint, func(name corev1.ResourceName) numa.Usage { return usageOf(info, name) }), nil
}

// ScoreExtensions returns nil: scores are absolute.
func (p *Plugin) ScoreExtensions() fwk.ScoreExtensions { return nil }

func usageOf(info fwk.NodeInfo, name corev1.ResourceName) numa.Usage {
	return numa.Usage{Allocatable: amountOf(info.GetAllocatable(), name), Requested: amountOf(info.GetRequested(), name)}
}

func amountOf(resource fwk.Resource, name corev1.ResourceName) int64 {
	switch name {
	case corev1.ResourceCPU:
		return resource.GetMilliCPU()
	case corev1.ResourceMemory:
		return resource.GetMemory()
	case corev1.ResourceEphemeralStorage:
		return resource.GetEphemeralStorage()
	}
	return resource.GetScalarResources()[name]
}
