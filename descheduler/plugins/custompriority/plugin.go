package custompriority

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"sigs.k8s.io/descheduler/pkg/descheduler/evictions"
	frameworktypes "sigs.k8s.io/descheduler/pkg/framework/types"

	"koordinator.sh/koord/decision/descheduling/nodetiers"
	"koordinator.sh/koord/descheduler/plugins/nodepods"
)

// Plugin evicts pods from expensive nodes.
type Plugin struct {
	handle frameworktypes.Handle
	policy *nodetiers.Policy
}

var _ frameworktypes.BalancePlugin = (*Plugin)(nil)

// New constructs the plugin.
func New(_ context.Context, args *nodetiers.Args, handle frameworktypes.Handle) (frameworktypes.Plugin, error) {
	policy, err := nodetiers.Compile(args)
	if err != nil {
		return nil, err
	}
	return &Plugin{handle: handle, policy: policy}, nil
}

// Name of the plugin.
func (p *Plugin) Name() string { return nodetiers.PluginName }

// Balance makes one pass over the nodes.
func (p *Plugin) Balance(ctx context.Context, nodes []*corev1.Node) *frameworktypes.Status {
	listed, err := nodepods.List(p.handle, nodes)
	if err != nil {
		return &frameworktypes.Status{Err: err}
	}
	verdict := nodetiers.Decide(nodetiers.Input{Policy: p.policy, Nodes: listed, Protected: nodepods.Protected(p.handle.Evictor(), listed)}, nil)
	var errs []error
	for i := range verdict.Departures {
		if ctx.Err() != nil {
			break
		}
		more, err := p.depart(ctx, &verdict.Departures[i], verdict.DryRun)
		if err != nil {
			errs = append(errs, err)
		}
		if !more {
			break
		}
	}
	if err := errors.Join(errs...); err != nil {
		return &frameworktypes.Status{Err: err}
	}
	return nil
}

// depart evicts the pods of one node. The evictor of a dry run only notes them; more is false when no further pod may be evicted in this pass.
func (p *Plugin) depart(ctx context.Context, departure *nodetiers.Departure, dryRun bool) (more bool, err error) {
	logger := klog.FromContext(ctx).WithValues("plugin", nodetiers.PluginName, "node", departure.Node, "tier", departure.Tier)
	refused := func(move nodetiers.Move) bool { return !p.handle.Evictor().PreEvictionFilter(move.Pod) }
	if departure.Together && slices.ContainsFunc(departure.Moves, refused) {
		logger.V(2).Info("Node is not drained, not all of its pods are evictable now")
		return true, nil
	}
	cordoned := false
	if departure.Cordon && !dryRun && !nodepods.DryRun(p.handle) {
		if cordoned, err = p.cordon(ctx, departure.Node); err != nil {
			return true, err
		}
	}
	more = true
	for _, move := range departure.Moves {
		if !departure.Together && refused(move) {
			continue
		}
		logger.V(2).Info("Pod leaves its node", "pod", klog.KObj(move.Pod), "fits", move.Target, "dryRun", dryRun, "reason", move.Reason)
		if dryRun {
			continue
		}
		err := p.handle.Evictor().Evict(ctx, move.Pod, evictions.EvictOptions{Reason: move.Reason, StrategyName: nodetiers.PluginName})
		if err == nil {
			continue
		}
		logger.Error(err, "Eviction failed", "pod", klog.KObj(move.Pod))
		var total *evictions.EvictionTotalLimitError
		more = !errors.As(err, &total)
		if !more || departure.Together {
			return more, p.uncordon(ctx, departure.Node, cordoned)
		}
	}
	return more, nil
}

// cordon cordons a node; false when it was cordoned already.
func (p *Plugin) cordon(ctx context.Context, name string) (bool, error) {
	node, err := p.handle.ClientSet().CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return false, fmt.Errorf("cordon node %s: %w", name, err)
	}
	if node.Spec.Unschedulable {
		return false, nil
	}
	return true, p.setUnschedulable(ctx, node, true)
}

// uncordon undoes what cordon did, when not all pods left.
func (p *Plugin) uncordon(ctx context.Context, name string, cordoned bool) error {
	if !cordoned {
		return nil
	}
	node, err := p.handle.ClientSet().CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("uncordon node %s: %w", name, err)
	}
	return p.setUnschedulable(ctx, node, false)
}

func (p *Plugin) setUnschedulable(ctx context.Context, node *corev1.Node, to bool) error {
	patch := fmt.Sprintf(`{"metadata":{"resourceVersion":%q},"spec":{"unschedulable":%t}}`, node.ResourceVersion, to)
	if _, err := p.handle.ClientSet().CoreV1().Nodes().Patch(ctx, node.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("set spec.unschedulable of node %s to %t: %w", node.Name, to, err)
	}
	return nil
}
