package explain

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"koordinator.sh/koord/scheduler/frameworkext"
	"koordinator.sh/koord/scheduler/reason"
	"koordinator.sh/koord/scheduler/recovery"
)

// refusal is one reason for which one plugin refuses one node.
type refusal struct {
	plugin string
	reason string
	// final is true when evicting pods cannot lift the refusal.
	final bool
	// everywhere is true for what PreFilter refuses all nodes for.
	everywhere bool
	// introduction is a text of the same status that says nothing beside this reason; empty for none.
	introduction string
}

// evaluation is one pod held against nodes.
type evaluation struct {
	pod   *corev1.Pod
	state fwk.CycleState
	// nodes evaluated; each as the filters saw it, with the state they saw; and what refuses it.
	nodes    []fwk.NodeInfo
	filtered []fwk.NodeInfo
	states   []fwk.CycleState
	refusals [][]refusal
	// failures are plugins that could not decide.
	failures *failures
	// partial is true when only some of what refuses the nodes is listed.
	partial bool
	// held is set for a pod that gets no node because of another one; it is among the refusals then.
	held *heldBack
}

// feasible returns the nodes that nothing refuses.
func (e *evaluation) feasible() []fwk.NodeInfo {
	var passed []fwk.NodeInfo
	for i, refusals := range e.refusals {
		if len(refusals) == 0 {
			passed = append(passed, e.nodes[i])
		}
	}
	return passed
}

// decided is the evaluation without the nodes on which a plugin panicked: asked what would help there, it would panic again.
func (e *evaluation) decided() *evaluation {
	panicked := func(r refusal) bool { return recovery.Is(r.reason) }
	if !slices.ContainsFunc(e.refusals, func(refusals []refusal) bool { return slices.ContainsFunc(refusals, panicked) }) {
		return e
	}
	kept := &evaluation{pod: e.pod, state: e.state, failures: e.failures, partial: e.partial, held: e.held}
	for i, refusals := range e.refusals {
		if !slices.ContainsFunc(refusals, panicked) {
			kept.nodes, kept.filtered = append(kept.nodes, e.nodes[i]), append(kept.filtered, e.filtered[i])
			kept.states, kept.refusals = append(kept.states, e.states[i]), append(kept.refusals, refusals)
		}
	}
	return kept
}

// evaluate runs all filters for a pod in a view of the cluster, on the named nodes or, without names, on all. A plugin that fails on
// a node refuses it, as it would in the scheduler, and is named in failures.
func (s *simulation) evaluate(ctx context.Context, w *clusterView, pod *corev1.Pod, names ...string) (*evaluation, error) {
	s.simulated.show(w)
	all, err := w.List()
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	run := s.newRun(pod)
	run.preFilter(ctx, all)
	nodes := all
	if len(names) > 0 {
		nodes = nil
		for _, name := range names {
			info, err := w.Get(name)
			if err != nil {
				return nil, err
			}
			nodes = append(nodes, info)
		}
	}
	result := &evaluation{
		pod: pod, state: run.state, nodes: nodes, filtered: make([]fwk.NodeInfo, len(nodes)), states: make([]fwk.CycleState, len(nodes)),
		refusals: make([][]refusal, len(nodes)), failures: run.failures,
	}
	inParallel(ctx, len(nodes), func(i int) { result.refusals[i], result.filtered[i], result.states[i] = run.node(ctx, nodes[i]) })
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("evaluate %d nodes: %w", len(nodes), context.Cause(ctx))
	}
	return result, s.placeTogether(ctx, w, result)
}

// inParallel calls work for every index, on all processors, until done or the context ends. A panic of work comes to the caller,
// who can recover from it.
func inParallel(ctx context.Context, count int, work func(int)) {
	var next atomic.Int64
	var group sync.WaitGroup
	var panicked atomic.Pointer[any]
	for range min(runtime.GOMAXPROCS(0), count) {
		group.Go(func() {
			defer func() {
				if cause := recover(); cause != nil {
					panicked.Store(&cause)
				}
			}()
			for i := int(next.Add(1)) - 1; i < count && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				work(i)
			}
		})
	}
	group.Wait()
	if cause := panicked.Load(); cause != nil {
		panic(*cause)
	}
}

// filterRun is one pass of one pod through PreFilter and Filter.
type filterRun struct {
	*simulation
	pod   *corev1.Pod
	state fwk.CycleState
	// everywhere are the refusals that PreFilter gives for all nodes.
	everywhere []refusal
	// refusedBy are plugins whose PreFilter allows only these nodes.
	refusedBy map[string]sets.Set[string]
	// skipped are plugins whose Filter must not run: they do not matter, or have refused or failed already.
	skipped  sets.Set[string]
	failures *failures
}

func (s *simulation) newRun(pod *corev1.Pod) *filterRun {
	return &filterRun{simulation: s, pod: pod, state: framework.NewCycleState(), refusedBy: map[string]sets.Set[string]{}, failures: &failures{}}
}

func (r *filterRun) preFilter(ctx context.Context, nodes []fwk.NodeInfo) {
	r.skipped = sets.New[string]()
	// A plugin that preemption can satisfy takes part in dry runs, as in the scheduler's own cycle.
	idle := sets.New[string]()
	for _, plugin := range r.simulation.preFilter {
		result, status := plugin.PreFilter(ctx, r.state, r.pod, nodes)
		switch {
		case status.IsSkip():
			r.skipped.Insert(plugin.Name())
			idle.Insert(plugin.Name())
		case !status.IsSuccess():
			r.skipped.Insert(plugin.Name())
			if status.Code() != fwk.Unschedulable {
				idle.Insert(plugin.Name())
			}
			for _, refused := range r.refusals(plugin.Name(), status) {
				refused.everywhere = true
				r.everywhere = append(r.everywhere, refused)
			}
		case !result.AllNodes():
			r.refusedBy[plugin.Name()] = result.NodeNames
		}
	}
	r.state.SetSkipFilterPlugins(idle)
	if status := frameworkext.Forget(ctx, r.framework, r.state, r.pod); !status.IsSuccess() {
		r.everywhere = append(r.everywhere, r.refusals("reservations", status)...)
	}
}

// node runs all filters on one node as the pod sees it, first as if the pods nominated to it were there, then without
// them. It returns the refusals, the node with those pods, and the state that belongs to it.
func (r *filterRun) node(ctx context.Context, info fwk.NodeInfo) ([]refusal, fwk.NodeInfo, fwk.CycleState) {
	info = frameworkext.NodeOf(r.state, info)
	refusals := append([]refusal(nil), r.everywhere...)
	state, filtered, nominated, err := r.withNominated(ctx, info)
	if err != nil {
		return append(refusals, r.refusals("nominated pods", fwk.AsStatus(err))...), info, state
	}
	for _, plugin := range r.filter {
		if r.skipped.Has(plugin.Name()) || r.leavesOut(plugin.Name(), info) {
			continue
		}
		status := plugin.Filter(ctx, state, r.pod, filtered)
		if status.IsSuccess() && nominated {
			status = plugin.Filter(ctx, r.state, r.pod, info)
		}
		if !status.IsSuccess() {
			refusals = r.withoutRelayed(refusals, r.refusals(plugin.Name(), status))
		}
	}
	for _, plugin := range sets.List(sets.KeySet(r.refusedBy)) {
		if r.leavesOut(plugin, info) {
			refusals = append(refusals, refusal{plugin: plugin, reason: reason.Exclusion(plugin, r.refusedBy[plugin].Len() == 0), final: true})
		}
	}
	return onceForCordon(r.pod, info.Node(), onceForEachClaim(refusals)), filtered, state
}

// leavesOut is true for a node that a plugin's PreFilter leaves out: its Filter is not asked about it, and events have another text.
func (r *filterRun) leavesOut(plugin string, info fwk.NodeInfo) bool {
	allowed, restricts := r.refusedBy[plugin]
	return restricts && !allowed.Has(info.Node().Name)
}

// withoutRelayed adds the refusals of a plugin. Another one that asked it before may have returned them as its own; that is the
// same refusal.
func (s *simulation) withoutRelayed(before, added []refusal) []refusal {
	for _, r := range added {
		before = slices.DeleteFunc(before, func(other refusal) bool {
			return other.reason == r.reason && slices.Contains(s.relayed[other.plugin], r.plugin)
		})
	}
	return append(before, added...)
}

// withNominated adds the pods of the same or a higher priority that are about to be placed on the node.
func (r *filterRun) withNominated(ctx context.Context, info fwk.NodeInfo) (fwk.CycleState, fwk.NodeInfo, bool, error) {
	state, filtered, added := r.state, info, false
	for _, nominated := range r.nominator.NominatedPodsForNode(info.Node().Name) {
		other := nominated.GetPod()
		if other.UID == r.pod.UID || corev1helpers.PodPriority(other) < corev1helpers.PodPriority(r.pod) {
			continue
		}
		if !added {
			state, filtered, added = r.state.Clone(), info.Snapshot(), true
		}
		filtered.AddPodInfo(nominated)
		if status := r.framework.RunPreFilterExtensionAddPod(ctx, state, r.pod, nominated, filtered); !status.IsSuccess() {
			return state, filtered, added, status.AsError()
		}
	}
	return state, filtered, added, nil
}

// refusals makes one refusal of each reason of a status.
func (r *filterRun) refusals(plugin string, status *fwk.Status) []refusal {
	if !status.IsRejected() {
		r.failures.add(plugin, status.AsError())
		return []refusal{{plugin: plugin, reason: "error: " + status.Message(), final: true}}
	}
	reasons, introduction := r.distinct(plugin, status.Reasons())
	if len(reasons) == 0 {
		reasons = []string{"refused without a reason"}
	}
	list := make([]refusal, len(reasons))
	for i, text := range reasons {
		list[i] = refusal{plugin: plugin, reason: text, final: status.Code() != fwk.Unschedulable, introduction: introduction}
	}
	return list
}

// distinct returns the reason that only introduces others apart from them, because it would count as a separate refusal.
func (r *filterRun) distinct(plugin string, reasons []string) (said []string, introduction string) {
	introducer, is := r.explainers[plugin].(reason.Introducer)
	if !is || len(reasons) < 2 {
		return reasons, ""
	}
	at := slices.IndexFunc(reasons, introducer.Introduces)
	said = slices.DeleteFunc(slices.Clone(reasons), introducer.Introduces)
	if at < 0 || len(said) == 0 {
		return reasons[:max(1, len(said))], ""
	}
	return said, reasons[at]
}

// failures collects plugins that could not decide. It is safe for concurrent use.
type failures struct {
	mutex sync.Mutex
	first map[string]string
}

func (f *failures) add(plugin string, err error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.first == nil {
		f.first = map[string]string{}
	}
	if _, known := f.first[plugin]; !known {
		f.first[plugin] = fmt.Sprintf("plugin %s failed: %v", plugin, err)
	}
}

// messages, in order of the plugins' names.
func (f *failures) messages() []string {
	var list []string
	for _, plugin := range sets.List(sets.KeySet(f.first)) {
		list = append(list, f.first[plugin])
	}
	return list
}
