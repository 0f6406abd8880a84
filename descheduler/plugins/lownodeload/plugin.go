package lownodeload

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/descheduler/pkg/descheduler/evictions"
	frameworktypes "sigs.k8s.io/descheduler/pkg/framework/types"

	"koordinator.sh/koord/decision/descheduling/lownodeload"
	"koordinator.sh/koord/descheduler/plugins/nodepods"
)

// Plugin evicts pods from overutilized nodes.
type Plugin struct {
	handle  frameworktypes.Handle
	policy  *lownodeload.Policy
	dryRun  bool
	sources Sources
}

var _ frameworktypes.BalancePlugin = (*Plugin)(nil)

// New returns the constructor of plugins that read from the given sources.
func New(sources Sources) func(ctx context.Context, args *lownodeload.Args, handle frameworktypes.Handle) (frameworktypes.Plugin, error) {
	if sources.Store == nil {
		sources.Store = &MemoryStore{}
	}
	return func(_ context.Context, args *lownodeload.Args, handle frameworktypes.Handle) (frameworktypes.Plugin, error) {
		policy, err := lownodeload.Compile(args)
		if err != nil {
			return nil, err
		}
		complete, err := sources.complete(handle)
		if err != nil {
			return nil, err
		}
		return &Plugin{handle: handle, policy: policy, dryRun: *args.DryRun, sources: complete}, nil
	}
}

// Name of the plugin.
func (p *Plugin) Name() string { return lownodeload.PluginName }

// Balance makes one pass over the nodes.
func (p *Plugin) Balance(ctx context.Context, nodes []*corev1.Node) *frameworktypes.Status {
	in, err := p.input(ctx, nodes)
	if err != nil {
		return &frameworktypes.Status{Err: err}
	}
	round := lownodeload.Begin(in, nil)
	evict(ctx, round, p.handle.Evictor(), p.dryRun)
	verdict := round.Verdict()
	report(ctx, verdict)
	if err := p.sources.Store.Save(ctx, p.handle.PluginInstanceID(), verdict.History); err != nil {
		return &frameworktypes.Status{Err: fmt.Errorf("save which nodes were overutilized: %w", err)}
	}
	return nil
}

// input reads what a pass is decided from.
func (p *Plugin) input(ctx context.Context, nodes []*corev1.Node) (lownodeload.Input, error) {
	in := lownodeload.Input{Policy: p.policy, Now: p.sources.Now(), Interval: p.sources.Interval(), Nodes: make([]lownodeload.Node, 0, len(nodes))}
	var err error
	if in.History, err = p.sources.Store.Load(ctx, p.handle.PluginInstanceID()); err != nil {
		return in, fmt.Errorf("load which nodes were overutilized: %w", err)
	}
	reports, err := p.sources.NodeMetrics.Reports(ctx)
	if err != nil {
		return in, err
	}
	listed, err := nodepods.List(p.handle, nodes)
	if err != nil {
		return in, err
	}
	for i := range listed {
		in.Nodes = append(in.Nodes, lownodeload.Node{Node: listed[i].Node, Metric: reports[listed[i].Name], Pods: listed[i].Pods})
	}
	return in, nil
}

// evict evicts the pods that a round names, until it names no more or no more may be evicted.
func evict(ctx context.Context, round *lownodeload.Round, evictor frameworktypes.Evictor, dryRun bool) {
	for victim, found := round.Next(); found && ctx.Err() == nil; victim, found = round.Next() {
		switch {
		case !evictor.Filter(victim.Pod) || !evictor.PreEvictionFilter(victim.Pod):
			round.Refused(nodepods.NotEvictable)
			continue
		case dryRun:
			round.Evicted()
			continue
		}
		err := evictor.Evict(ctx, victim.Pod, evictions.EvictOptions{Reason: victim.Reason, StrategyName: lownodeload.PluginName})
		var total *evictions.EvictionTotalLimitError
		var perNode *evictions.EvictionNodeLimitError
		switch {
		case err == nil:
			round.Evicted()
		case errors.As(err, &total):
			round.Refused(err.Error())
			return
		case errors.As(err, &perNode):
			round.LeaveNode(err.Error())
		default:
			klog.FromContext(ctx).Error(err, "Eviction failed", "pod", klog.KObj(victim.Pod), "node", victim.Node)
			round.Refused(err.Error())
		}
	}
}

// report logs what came of a pass.
func report(ctx context.Context, verdict lownodeload.Verdict) {
	logger := klog.FromContext(ctx).WithValues("plugin", lownodeload.PluginName)
	for i := range verdict.Parts {
		part := &verdict.Parts[i]
		logger.V(2).Info("Nodes are classified", "nodePool", part.Pool, "prod", part.Prod, "overutilized", part.Overutilized, "underutilized", part.Underutilized, "stop", part.Stop)
	}
	for i := range verdict.Victims {
		victim := &verdict.Victims[i]
		logger.V(2).Info("Pod leaves its node", "pod", klog.KObj(victim.Pod), "node", victim.Node, "fits", victim.Target, "dryRun", verdict.DryRun, "reason", victim.Reason)
	}
}
