package scaledownbinpack

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"sigs.k8s.io/descheduler/pkg/descheduler/evictions"
	frameworktypes "sigs.k8s.io/descheduler/pkg/framework/types"

	"koordinator.sh/koord/decision/descheduling/scaledown"
	"koordinator.sh/koord/descheduler/plugins/nodepods"
)

// Plugin ranks pods for a scale-down.
type Plugin struct {
	handle frameworktypes.Handle
	policy *scaledown.Policy
}

var _ frameworktypes.BalancePlugin = (*Plugin)(nil)

// New constructs the plugin.
func New(_ context.Context, args *scaledown.Args, handle frameworktypes.Handle) (frameworktypes.Plugin, error) {
	policy, err := scaledown.Compile(args)
	if err != nil {
		return nil, err
	}
	return &Plugin{handle: handle, policy: policy}, nil
}

// Name of the plugin.
func (p *Plugin) Name() string { return scaledown.PluginName }

// Balance makes one pass over the nodes.
func (p *Plugin) Balance(ctx context.Context, nodes []*corev1.Node) *frameworktypes.Status {
	listed, err := nodepods.List(p.handle, nodes)
	if err != nil {
		return &frameworktypes.Status{Err: err}
	}
	verdict := scaledown.Decide(scaledown.Input{Policy: p.policy, Nodes: listed, Protected: nodepods.Protected(p.handle.Evictor(), listed)}, nil)
	if verdict.Evict {
		p.evict(ctx, &verdict)
		return nil
	}
	if err := p.write(ctx, verdict.Costs); err != nil {
		return &frameworktypes.Status{Err: err}
	}
	return nil
}

// write sets the deletion costs of pods. A pod that is gone needs none.
func (p *Plugin) write(ctx context.Context, costs []scaledown.Cost) error {
	if nodepods.DryRun(p.handle) {
		klog.FromContext(ctx).V(2).Info("Deletion costs stay as they are in a dry run", "plugin", scaledown.PluginName, "changes", len(costs))
		return nil
	}
	var errs []error
	for _, cost := range costs {
		if err := ctx.Err(); err != nil {
			return errors.Join(append(errs, err)...)
		}
		// The UID makes the patch fail on another pod that has the name now.
		patch := fmt.Sprintf(`{"metadata":{"uid":%q,"annotations":{%q:"%d"}}}`, cost.Pod.UID, corev1.PodDeletionCost, cost.Cost)
		_, err := p.handle.ClientSet().CoreV1().Pods(cost.Pod.Namespace).Patch(ctx, cost.Pod.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			errs = append(errs, fmt.Errorf("write the deletion cost of pod %s/%s: %w", cost.Pod.Namespace, cost.Pod.Name, err))
		}
	}
	return errors.Join(errs...)
}

// evict evicts the first pods.
func (p *Plugin) evict(ctx context.Context, verdict *scaledown.Verdict) {
	evicted, evictor := 0, p.handle.Evictor()
	for i := range verdict.Ranked {
		ranked := &verdict.Ranked[i]
		if ctx.Err() != nil || verdict.MaxEvictions > 0 && evicted >= verdict.MaxEvictions {
			return
		}
		if !evictor.PreEvictionFilter(ranked.Pod) {
			continue
		}
		err := evictor.Evict(ctx, ranked.Pod, evictions.EvictOptions{Reason: scaledown.Reason, StrategyName: scaledown.PluginName})
		var total *evictions.EvictionTotalLimitError
		switch {
		case err == nil:
			evicted++
		case errors.As(err, &total):
			return
		default:
			klog.FromContext(ctx).Error(err, "Eviction failed", "plugin", scaledown.PluginName, "pod", klog.KObj(ranked.Pod), "node", ranked.Node)
		}
	}
}
