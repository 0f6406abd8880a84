package nodenumaresource

import (
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/scheduling/numa"
	"koordinator.sh/koord/scheduler/recovery"
)

// Filter refuses nodes that cannot give the pod its CPUs and zones.
func (p *Plugin) Filter(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo) (status *fwk.Status) {
	defer recovery.Status(Name, recovery.Filter, pod, &status)
	c := cycleOf(state)
	if c == nil || !p.concerns(c, info) {
		return nil
	}
	_, _, status = p.evaluate(ctx, state, c, pod, info, nil)
	return status
}

// concerns is false on nodes that neither ask anything of the pod nor are asked.
func (p *Plugin) concerns(c *cycle, info fwk.NodeInfo) bool {
	return c.request.Aligned() || p.state.Node(info.Node()).Demanding()
}

// evaluate chooses zones together with the other hint providers, and remembers them for the cycle.
func (p *Plugin) evaluate(ctx context.Context, state fwk.CycleState, c *cycle, pod *corev1.Pod, info fwk.NodeInfo, trace *numa.Trace) (numa.Input, numa.Verdict, *fwk.Status) {
	in := p.input(state, c, info)
	aligned := numa.AlignedBy(c.request, in.Ledger.Node) != extension.NUMATopologyPolicyNone
	if aligned {
		others, status := c.hintsOfOthers(ctx, state, pod, info)
		if !status.IsSuccess() {
			return in, numa.Verdict{}, status
		}
		in.Others = others
	}
	hint, verdict := numa.Filter(in, trace)
	if !verdict.Passed() || !aligned {
		return in, verdict, statusOf(verdict)
	}
	c.hints.Store(info.Node().Name, hint)
	for _, provider := range c.profile.providers {
		if status := provider.CheckNUMAAffinity(ctx, state, pod, info, hint); !status.IsSuccess() {
			return in, verdict, status
		}
	}
	return in, verdict, nil
}

func (c *cycle) hintsOfOthers(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo) (map[string][]numa.Hint, *fwk.Status) {
	if len(c.profile.providers) == 0 {
		return nil, nil
	}
	all := map[string][]numa.Hint{}
	for _, provider := range c.profile.providers {
		hints, status := provider.NUMAHints(ctx, state, pod, info)
		if !status.IsSuccess() {
			return nil, status
		}
		maps.Copy(all, hints)
	}
	return all, nil
}

func (p *Plugin) input(state fwk.CycleState, c *cycle, info fwk.NodeInfo) numa.Input {
	return numa.Input{
		Args: p.args, Ledger: p.state.Ledger(info), Request: c.request, Preferred: c.profile.preferred(state, info.Node().Name),
		AllocatableMilliCPU: info.GetAllocatable().GetMilliCPU(), RequestedMilliCPU: info.GetRequested().GetMilliCPU(),
	}
}
