package frameworkext

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-base/metrics"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	schedulermetrics "k8s.io/kubernetes/pkg/scheduler/metrics"
)

// filter is a Filter plugin with the counter of its evaluations.
type filter struct {
	fwk.FilterPlugin
	evaluations metrics.CounterMetric
}

// filtersOf returns the Filter plugins of a profile in their order. It returns none when one of them is not among the known
// plugins: nodes are then filtered by the framework itself.
func filtersOf(inner framework.Framework, known map[string]fwk.Plugin) []filter {
	var filters []filter
	for _, enabled := range inner.ListPlugins().Filter.Enabled {
		plugin, found := known[enabled.Name].(fwk.FilterPlugin)
		if !found {
			return nil
		}
		filters = append(filters, filter{
			FilterPlugin: plugin,
			evaluations:  schedulermetrics.PluginEvaluationTotal.WithLabelValues(enabled.Name, schedulermetrics.Filter, inner.ProfileName()),
		})
	}
	return filters
}

// cycle is what is the same for all nodes that one pod is tried on.
type cycle struct {
	state fwk.CycleState
	// restored is true when the cycle sees some nodes in another state.
	restored bool
	// filters are those that no PreFilter plugin skipped; nil when the framework is to run its own.
	filters []filter
}

// begin prepares a cycle whose PreFilter plugins have run.
func (f *Framework) begin(ctx context.Context, state fwk.CycleState) {
	c := &cycle{state: state, restored: len(restoredIn(state)) > 0}
	// The framework takes the time of the plugins in the few cycles that are sampled, and names plugins in verbose logs.
	if !state.ShouldRecordPluginMetrics() && !klog.FromContext(ctx).V(4).Enabled() {
		skipped := state.GetSkipFilterPlugins()
		for _, plugin := range f.filters {
			if !skipped.Has(plugin.Name()) {
				c.filters = append(c.filters, plugin)
			}
		}
	}
	f.cycle.Store(c)
}

// RunFilterPluginsWithNominatedPods filters a node as the pod of the cycle sees it. It finds out once a cycle what the framework
// looks up for each node again: which plugins have nothing to say about the pod.
func (f *Framework) RunFilterPluginsWithNominatedPods(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo) *fwk.Status {
	c := f.cycle.Load()
	if c == nil || c.state != state {
		return f.Framework.RunFilterPluginsWithNominatedPods(ctx, state, pod, NodeOf(state, info))
	}
	if c.restored {
		info = NodeOf(state, info)
	}
	if c.filters == nil || len(f.NominatedPodsForNode(info.Node().Name)) > 0 {
		return f.Framework.RunFilterPluginsWithNominatedPods(ctx, state, pod, info)
	}
	for i := range c.filters {
		plugin := &c.filters[i]
		plugin.evaluations.Inc()
		if status := plugin.Filter(ctx, state, pod, info); !status.IsSuccess() {
			if !status.IsRejected() {
				status = fwk.AsStatus(fmt.Errorf("running %q filter plugin: %w", plugin.Name(), status.AsError()))
			}
			status.SetPlugin(plugin.Name())
			return status
		}
	}
	return nil
}
