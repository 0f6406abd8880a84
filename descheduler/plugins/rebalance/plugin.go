package rebalance

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	frameworktypes "sigs.k8s.io/descheduler/pkg/framework/types"

	"koordinator.sh/koord/decision/descheduling/evictability"
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
	// pods and objects are the space of a view, cleared after each pass, and values and names that of one pod and of one node: a
	// pass over 150,000 pods would allocate 30 MiB for them.
	pods              []rebalance.Pod
	objects           []*corev1.Pod
	values            []float64
	names, bestEffort []string
	// waiting are the nodes on which the agent is relied upon to hold best-effort pods back, by name, since when.
	waiting map[string]time.Time
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
	plugin, err := lownodeload.New(lownodeload.Sources{NodeMetrics: sources.NodeMetrics, Now: sources.Now})(ctx, args.LowNodeLoad(), handle)
	if err != nil {
		return nil, err
	}
	return plugin.(frameworktypes.BalancePlugin), nil
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
	defer p.forget(v)
	p.protect(v)
	var trace *rebalance.Trace
	if p.sources.Report != nil {
		trace = &rebalance.Trace{}
	}
	plan, unreviewed := p.decide(ctx, v, trace)
	if p.sources.Report != nil {
		p.sources.Report(plan, trace, unreviewed)
	}
	p.wait(v, plan)
	if p.sources.Stopped != nil {
		p.sources.Stopped(ctx, plan.Loops)
	}
	if err := p.apply(ctx, v, plan); err != nil {
		return &frameworktypes.Status{Err: err}
	}
	if unreviewed != nil {
		return &frameworktypes.Status{Err: fmt.Errorf("ask koord-scheduler about planned moves, schedulerReview is %s: %w", p.args.SchedulerReview, unreviewed)}
	}
	return nil
}

// forget a view, whose pods may be gone before the next pass.
func (p *Plugin) forget(v *view) {
	clear(v.in.Pods)
	clear(v.pods)
	p.pods, p.objects = v.in.Pods[:0], v.pods[:0]
}

// protect asks the evictor which pods may be evicted. What is too costly to be asked for every pod is asked
// for those that move.
func (p *Plugin) protect(v *view) {
	for i := range v.in.Pods {
		if v.in.Pods[i].Usage != nil && v.in.Pods[i].Workload >= 0 {
			v.in.Pods[i].Protected = p.refusal(v.pods[i])
		}
	}
}

// refusal is why the evictor refuses a pod; empty when it does not. That its workload goes in circles is left to the plan, which finds
// the same by the same history and still steers a scale-down.
func (p *Plugin) refusal(pod *corev1.Pod) string {
	naming, ok := p.handle.Evictor().(interface{ Refusing(*corev1.Pod) string })
	if !ok {
		if p.handle.Evictor().Filter(pod) {
			return ""
		}
		return "the evictor refuses it"
	}
	switch refusing := naming.Refusing(pod); refusing {
	case "", string(evictability.MigrationLoop):
		return ""
	default:
		return refusing + " refuses it"
	}
}
