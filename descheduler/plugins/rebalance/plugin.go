package rebalance

import (
	"context"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/descheduler/pkg/descheduler/evictions"
	frameworktypes "sigs.k8s.io/descheduler/pkg/framework/types"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	decision "koordinator.sh/koord/decision/descheduling/lownodeload"
	"koordinator.sh/koord/decision/descheduling/rebalance"
	"koordinator.sh/koord/descheduler/plugins/lownodeload"
)

// Plugin moves pods to planned targets, or in the mode Upstream evicts as LowNodeLoad does.
type Plugin struct {
	handle   frameworktypes.Handle
	client   client.Client
	args     *rebalance.Args
	selector labels.Selector
	sources  Sources
	observed *rebalance.Observations
	// upstream is nil in the mode Planned.
	upstream frameworktypes.BalancePlugin
}

var _ frameworktypes.BalancePlugin = (*Plugin)(nil)

// New returns the constructor of plugins that read from the given sources.
func New(sources Sources) func(ctx context.Context, args *rebalance.Args, handle frameworktypes.Handle) (frameworktypes.Plugin, error) {
	return func(ctx context.Context, args *rebalance.Args, handle frameworktypes.Handle) (frameworktypes.Plugin, error) {
		selector, err := selectorOf(args.NodeSelector)
		if err != nil {
			return nil, fmt.Errorf("nodeSelector: %w", err)
		}
		complete, reading, err := sources.complete(handle)
		if err != nil {
			return nil, err
		}
		p := &Plugin{handle: handle, client: reading, args: args, selector: selector, sources: complete}
		p.observed = rebalance.NewObservations(len(args.HighThresholds), args.Horizon.Duration)
		if args.Mode == rebalance.Upstream {
			p.upstream, err = newUpstream(ctx, args, complete, handle)
		}
		return p, err
	}
}

func selectorOf(selector *metav1.LabelSelector) (labels.Selector, error) {
	if selector == nil {
		return labels.Everything(), nil
	}
	return metav1.LabelSelectorAsSelector(selector)
}

func labelsOf(node *corev1.Node) labels.Set { return node.Labels }

// newUpstream is LowNodeLoad with the thresholds of this plugin.
func newUpstream(ctx context.Context, args *rebalance.Args, sources Sources, handle frameworktypes.Handle) (frameworktypes.BalancePlugin, error) {
	low := &decision.Args{
		DryRun: &args.DryRun, Paused: &args.Paused, NodeSelector: args.NodeSelector, NodeMetricExpirationSeconds: args.NodeMetricExpirationSeconds,
		PoolSettings: decision.PoolSettings{
			LowThresholds: thresholds(args.LowThresholds), HighThresholds: thresholds(args.HighThresholds), ResourceWeights: args.ResourceWeights,
		},
	}
	decision.SetDefaults(low)
	plugin, err := lownodeload.New(lownodeload.Sources{NodeMetrics: sources.NodeMetrics, Now: sources.Now})(ctx, low, handle)
	if err != nil {
		return nil, err
	}
	return plugin.(frameworktypes.BalancePlugin), nil
}

func thresholds(from map[corev1.ResourceName]int64) decision.Thresholds {
	out := make(decision.Thresholds, len(from))
	for name, percent := range from {
		out[name] = float64(percent)
	}
	return out
}

// Name of the plugin.
func (p *Plugin) Name() string { return rebalance.PluginName }

// Balance makes one pass over the nodes.
func (p *Plugin) Balance(ctx context.Context, nodes []*corev1.Node) *frameworktypes.Status {
	switch {
	case p.args.Paused:
		return nil
	case p.upstream != nil:
		return p.upstream.Balance(ctx, nodes)
	}
	v, err := p.view(ctx, nodes)
	if err != nil {
		return &frameworktypes.Status{Err: err}
	}
	p.protect(v)
	var trace *rebalance.Trace
	if p.sources.Report != nil {
		trace = &rebalance.Trace{}
	}
	plan := rebalance.Decide(v.in, trace)
	if p.sources.Report != nil {
		p.sources.Report(plan, trace)
	}
	for _, loop := range plan.Loops {
		klog.FromContext(ctx).Info("Workload goes in circles and is not moved", "workload", loop.Workload, "code", loop.Code, "until", loop.Until, "reason", loop.Message)
	}
	if p.sources.Stopped != nil {
		p.sources.Stopped(ctx, plan.Loops)
	}
	return p.apply(ctx, v, plan)
}

// protect asks the evictor which pods may be evicted. What is too costly to be asked for every pod is asked
// for those that move.
func (p *Plugin) protect(v *view) {
	for i := range v.in.Pods {
		if v.in.Pods[i].Usage != nil && v.in.Pods[i].Workload >= 0 && !p.handle.Evictor().Filter(v.pods[i]) {
			v.in.Pods[i].Protected = "the evictor refuses it"
		}
	}
}

// apply evicts the pods that move, and marks those that a scale-down should remove.
func (p *Plugin) apply(ctx context.Context, v *view, plan rebalance.Plan) *frameworktypes.Status {
	for _, step := range plan.Steps {
		if ctx.Err() != nil {
			return &frameworktypes.Status{Err: ctx.Err()}
		}
		switch step.Remedy {
		case rebalance.Migrate:
			p.evict(ctx, v, step)
		case rebalance.DeletionCost:
			if err := p.mark(ctx, v.pods[step.Pod], step.DeletionCost); err != nil {
				klog.FromContext(ctx).Error(err, "Cannot mark a pod for the scale-down", "pod", klog.KObj(v.pods[step.Pod]))
			}
		}
	}
	return nil
}

// evictorTo evicts by jobs that can be changed before they are created.
type evictorTo interface {
	EvictBy(ctx context.Context, pod *corev1.Pod, options evictions.EvictOptions, edit func(*schedulingv1alpha1.PodMigrationJob)) error
}

func (p *Plugin) evict(ctx context.Context, v *view, step rebalance.Step) {
	pod, source, target := v.pods[step.Pod], v.in.Nodes[step.Node].Name, v.in.Nodes[step.Target].Name
	logger := klog.FromContext(ctx).WithValues("plugin", rebalance.PluginName, "pod", klog.KObj(pod), "node", source, "target", target)
	if p.args.DryRun {
		logger.V(1).Info("Pod would be moved")
		return
	}
	if !p.handle.Evictor().PreEvictionFilter(pod) {
		logger.V(2).Info("Pod may not be evicted")
		return
	}
	options := evictions.EvictOptions{StrategyName: rebalance.PluginName, Reason: fmt.Sprintf("the predicted load is spread better with the pod on node %s than on %s", target, source)}
	var err error
	if evictor, ok := p.handle.Evictor().(evictorTo); ok {
		err = evictor.EvictBy(ctx, pod, options, func(job *schedulingv1alpha1.PodMigrationJob) {
			metav1.SetMetaDataAnnotation(&job.ObjectMeta, extension.AnnotationTargetNode, target)
		})
	} else {
		err = p.handle.Evictor().Evict(ctx, pod, options)
	}
	if err != nil {
		logger.V(2).Info("Pod is not moved", "reason", err.Error())
	}
}

// mark writes the deletion cost of a pod, unless it has a lower one.
func (p *Plugin) mark(ctx context.Context, pod *corev1.Pod, cost int32) error {
	if p.args.DryRun || p.writesNothing() {
		return nil
	}
	if has, err := strconv.ParseInt(pod.Annotations[corev1.PodDeletionCost], 10, 32); err == nil && has <= int64(cost) {
		return nil
	}
	patch := fmt.Appendf(nil, `{"metadata":{"uid":%q,"annotations":{%q:"%d"}}}`, pod.UID, corev1.PodDeletionCost, cost)
	if _, err := p.handle.ClientSet().CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("patch pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}

// writesNothing is true in a dry run of the descheduler.
func (p *Plugin) writesNothing() bool {
	dry, ok := p.handle.(interface{ DryRun() bool })
	return ok && dry.DryRun()
}
