package fragmentationaware

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/descheduler/pkg/descheduler/evictions"
	frameworktypes "sigs.k8s.io/descheduler/pkg/framework/types"

	"koordinator.sh/koord/decision/descheduling/fragmentation"
	"koordinator.sh/koord/descheduler/plugins/nodepods"
)

// Plugin evicts pods from imbalanced nodes.
type Plugin struct {
	handle frameworktypes.Handle
	policy *fragmentation.Policy
}

var _ frameworktypes.BalancePlugin = (*Plugin)(nil)

// New constructs the plugin.
func New(_ context.Context, args *fragmentation.Args, handle frameworktypes.Handle) (frameworktypes.Plugin, error) {
	policy, err := fragmentation.Compile(args)
	if err != nil {
		return nil, err
	}
	return &Plugin{handle: handle, policy: policy}, nil
}

// Name of the plugin.
func (p *Plugin) Name() string { return fragmentation.PluginName }

// Balance makes one pass over the nodes.
func (p *Plugin) Balance(ctx context.Context, nodes []*corev1.Node) *frameworktypes.Status {
	listed, err := nodepods.List(p.handle, nodes)
	if err != nil {
		return &frameworktypes.Status{Err: err}
	}
	evictor, logger := p.handle.Evictor(), klog.FromContext(ctx).WithValues("plugin", fragmentation.PluginName)
	verdict := fragmentation.Decide(fragmentation.Input{Policy: p.policy, Nodes: listed, Protected: nodepods.Protected(evictor, listed)}, nil)
	for i := range verdict.Moves {
		move := &verdict.Moves[i]
		if ctx.Err() != nil || !evictor.PreEvictionFilter(move.Pod) {
			continue
		}
		logger.V(2).Info("Pod leaves its node", "pod", klog.KObj(move.Pod), "node", move.Node, "fits", move.Target, "dryRun", verdict.DryRun, "reason", move.Reason)
		if verdict.DryRun {
			continue
		}
		err := evictor.Evict(ctx, move.Pod, evictions.EvictOptions{Reason: move.Reason, StrategyName: fragmentation.PluginName})
		var total *evictions.EvictionTotalLimitError
		if errors.As(err, &total) {
			return nil
		}
		if err != nil {
			logger.Error(err, "Eviction failed", "pod", klog.KObj(move.Pod), "node", move.Node)
		}
	}
	return nil
}
