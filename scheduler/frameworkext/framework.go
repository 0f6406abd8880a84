package frameworkext

import (
	"context"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Proposer is a plugin that knows a good node for a pod before nodes are filtered.
type Proposer interface {
	fwk.Plugin
	// Propose returns nodes to try before all others, best first; none when it has no proposal. The first of them that passes
	// the filters is taken, without scoring.
	Propose(ctx context.Context, state fwk.CycleState, pod *corev1.Pod) []string
}

// RefusalObserver is a plugin that remembers which pods it refused.
type RefusalObserver interface {
	fwk.Plugin
	// Refused is called with the state of each cycle in which a pod found no node, before PostFilter.
	Refused(state fwk.CycleState, pod *corev1.Pod)
}

// Recorder keeps what happened in scheduling cycles. Its methods are called on the scheduling goroutine and must be quick.
type Recorder interface {
	// Begin opens an attempt.
	Begin(pod *corev1.Pod)
	// Scored notes the scores of the feasible nodes of the open attempt. They must not be kept.
	Scored(pod *corev1.Pod, scores []fwk.NodePluginScores)
	// Placed notes the node that the open attempt chose.
	Placed(pod *corev1.Pod, node string)
}

// Framework is a profile's framework with extensions. It is as safe for concurrent use as the framework it wraps.
type Framework struct {
	framework.Framework
	proposers []Proposer
	observers []RefusalObserver
	recorder  Recorder
	filters   []filter
	// cycle is the latest one whose PreFilter plugins have run.
	cycle atomic.Pointer[cycle]
	// batch is nil where batching is left to the framework.
	batch *batch
}

// Wrap extends a framework with what its plugins offer. A nil recorder records nothing.
func Wrap(inner framework.Framework, plugins []fwk.Plugin, recorder Recorder) *Framework {
	known := map[string]fwk.Plugin{}
	for _, extension := range inner.EnqueueExtensions() { // the only plugins that a framework hands out
		known[extension.Name()] = extension
	}
	for _, plugin := range plugins {
		known[plugin.Name()] = plugin
	}
	wrapped := &Framework{Framework: inner, recorder: recorder, filters: filtersOf(inner, known)}
	for _, plugin := range plugins {
		if proposer, ok := plugin.(Proposer); ok {
			wrapped.proposers = append(wrapped.proposers, proposer)
		}
		if observer, ok := plugin.(RefusalObserver); ok {
			wrapped.observers = append(wrapped.observers, observer)
		}
	}
	wrapped.batch = newBatch(wrapped, known)
	return wrapped
}

// Batches reports whether equal pods of the profile are placed without a search for each. A scheduler extender, or a plugin that
// does not sign pods, rules it out.
func (f *Framework) Batches() bool { return f.batch != nil }

// RunPreFilterPlugins runs the plugins, and removes the pods that restored nodes are without from what they counted.
func (f *Framework) RunPreFilterPlugins(ctx context.Context, state fwk.CycleState, pod *corev1.Pod) (*fwk.PreFilterResult, *fwk.Status, sets.Set[string]) {
	if f.recorder != nil {
		f.recorder.Begin(pod)
	}
	result, status, plugins := f.Framework.RunPreFilterPlugins(ctx, state, pod)
	if !status.IsSuccess() {
		return result, status, plugins
	}
	if removed := Forget(ctx, f, state, pod); !removed.IsSuccess() {
		return nil, removed, plugins
	}
	f.begin(ctx, state)
	return result, status, plugins
}

// Forget takes the pods that restored nodes are without out of what PreFilter plugins counted.
func Forget(ctx context.Context, runner fwk.PluginsRunner, state fwk.CycleState, pod *corev1.Pod) *fwk.Status {
	for _, restored := range restoredIn(state) {
		for _, removed := range restored.Removed {
			if status := runner.RunPreFilterExtensionRemovePod(ctx, state, pod, removed, restored.Node); !status.IsSuccess() {
				return status
			}
		}
	}
	return nil
}

// RunPostFilterPlugins passes the refusal on to the plugins that remember refusals, and runs the plugins.
func (f *Framework) RunPostFilterPlugins(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, nodes fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	for _, observer := range f.observers {
		observer.Refused(state, pod)
	}
	return f.Framework.RunPostFilterPlugins(ctx, state, pod, nodes)
}

// GetNodeHint returns the first proposed node that passes the filters, or the best node by what was found for the pods before.
func (f *Framework) GetNodeHint(ctx context.Context, pod *corev1.Pod, signature fwk.PodSignature, state fwk.CycleState, cycle int64) string {
	if f.batch != nil {
		f.batch.begin(ctx, state, pod, cycle)
	}
	for _, proposer := range f.proposers {
		for _, name := range proposer.Propose(ctx, state, pod) {
			info, err := f.SnapshotSharedLister().NodeInfos().Get(name)
			if err == nil && f.RunFilterPluginsWithNominatedPods(ctx, state, pod, info).IsSuccess() {
				return name
			}
		}
	}
	if f.batch == nil {
		return f.Framework.GetNodeHint(ctx, pod, signature, state, cycle)
	}
	return f.batch.hint(ctx)
}

// StoreScheduleResults keeps what was found for a pod, for equal pods after it.
func (f *Framework) StoreScheduleResults(ctx context.Context, signature fwk.PodSignature, hinted, chosen string, others framework.SortedScoredNodes, cycle int64) {
	if f.batch == nil {
		f.Framework.StoreScheduleResults(ctx, signature, hinted, chosen, others, cycle)
		return
	}
	f.batch.close(ctx, cycle, chosen)
}

// RunScorePlugins runs the plugins and records the scores.
func (f *Framework) RunScorePlugins(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo) ([]fwk.NodePluginScores, *fwk.Status) {
	scores, status := f.Framework.RunScorePlugins(ctx, state, pod, nodes)
	if !status.IsSuccess() {
		return scores, status
	}
	if f.recorder != nil {
		f.recorder.Scored(pod, scores)
	}
	if f.batch != nil {
		f.batch.scored(state, nodes, scores)
	}
	return scores, status
}

// RunReservePluginsReserve records the node, and runs the plugins.
func (f *Framework) RunReservePluginsReserve(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, node string) *fwk.Status {
	if f.recorder != nil {
		f.recorder.Placed(pod, node)
	}
	return f.Framework.RunReservePluginsReserve(ctx, state, pod, node)
}

// WillWaitOnPermit is always false: it only decides whether the node is written to the status of a waiting pod, in a separate
// request. For members of a gang that is one request in three, and the gang itself says where they wait.
func (f *Framework) WillWaitOnPermit(context.Context, *corev1.Pod) bool { return false }
