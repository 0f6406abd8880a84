package explain

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// maxTrials bounds how many changes are tried for one explanation.
const maxTrials = 40

// Costs order changes: what repairs something broken first, then edits of the pod, then of the cluster, and at last
// what hurts somebody else. A change that has a size costs more the larger it is.
const (
	costRefresh    = 1.0
	costReduce     = 2.0 // up to 10 more
	costSelector   = 3.0
	costToleration = 4.0
	costUncordon   = 5.0
	costThreshold  = 5.0 // 1 more for each 5 points
	costEvict      = 15.0
)

// candidate is a single change that might make the pod schedulable.
type candidate struct {
	cost float64
	fix  diagnosticsv1alpha1.Fix
	// pod is the edited pod; nil when the pod stays as it is.
	pod *corev1.Pod
	// edit makes the edited world; nil when the cluster stays as it is.
	edit func(*world) (*world, error)
}

// search looks for the cheapest single change after which some node passes every filter. Only a change that was tried
// on the whole chain is returned; nil means that none of those tried helps.
func (s *simulation) search(ctx context.Context, w *world, e *evaluation) (*diagnosticsv1alpha1.Fix, error) {
	candidates, err := s.candidates(ctx, w, e)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.fix.Node, b.fix.Node))
	})
	for _, c := range candidates[:min(maxTrials, len(candidates))] {
		works, err := s.try(ctx, w, e.pod, c, c.fix.Node)
		if err != nil {
			return nil, err
		}
		if works == 0 {
			continue
		}
		unlocked, err := s.try(ctx, w, e.pod, c)
		if err != nil {
			return nil, err
		}
		fix := c.fix
		fix.NodesUnlocked, fix.Verified = unlocked, true
		return &fix, nil
	}
	return nil, nil
}

// try counts the nodes that pass with a change applied, among the named ones or, without names, among all.
func (s *simulation) try(ctx context.Context, w *world, pod *corev1.Pod, c candidate, nodes ...string) (int32, error) {
	if c.pod != nil {
		pod = c.pod
	}
	if c.edit != nil {
		edited, err := c.edit(w)
		if err != nil {
			return 0, nil // the change cannot be made, so it is no fix
		}
		w = edited
	}
	e, err := s.evaluate(ctx, w, pod, nodes...)
	if err != nil {
		return 0, err
	}
	return int32(len(e.feasible())), nil
}

// candidates proposes changes from the refusals of each node that a single kind of change could lift.
func (s *simulation) candidates(ctx context.Context, w *world, e *evaluation) ([]candidate, error) {
	list, err := s.shrinkings(ctx, w, e)
	if err != nil {
		return nil, err
	}
	list = append(list, s.reductions(e)...)
	list = append(list, tolerations(ctx, e)...)
	list = append(list, selectors(e)...)
	list = append(list, uncordons(ctx, e)...)
	list = append(list, s.refreshes(w, e)...)
	list = append(list, s.thresholds(e)...)
	list = append(list, evictions(e)...)
	return append(list, s.advice(ctx, e)...), nil
}

// refusedBy reports whether all refusals of a node come from the given plugins.
func refusedBy(refusals []refusal, plugins ...string) bool {
	return len(refusals) > 0 && !slices.ContainsFunc(refusals, func(r refusal) bool { return !slices.Contains(plugins, r.plugin) })
}

// keepCheapest bounds the candidates of one kind, so that no kind uses up all trials.
func keepCheapest(list []candidate, limit int) []candidate {
	slices.SortStableFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.fix.Node, b.fix.Node))
	})
	return list[:min(limit, len(list))]
}

// uncordons proposes to uncordon nodes that nothing but the cordon refuses.
func uncordons(ctx context.Context, e *evaluation) []candidate {
	var list []candidate
	for i, info := range e.nodes {
		node := info.Node()
		if !node.Spec.Unschedulable || !refusedBy(e.refusals[i], names.NodeUnschedulable, names.TaintToleration) {
			continue
		}
		taints := untolerated(ctx, e.pod, node)
		if slices.ContainsFunc(taints, func(t corev1.Taint) bool { return t.Key != corev1.TaintNodeUnschedulable }) {
			continue
		}
		list = append(list, candidate{
			cost: costUncordon,
			fix: diagnosticsv1alpha1.Fix{
				Target: diagnosticsv1alpha1.FixCluster, Kind: "uncordon", Node: node.Name,
				Description: "uncordon node " + node.Name, Command: "kubectl uncordon " + node.Name,
			},
			edit: func(w *world) (*world, error) { return w.withNode(uncordoned(node)) },
		})
	}
	return keepCheapest(list, 4)
}

func uncordoned(node *corev1.Node) *corev1.Node {
	edited := node.DeepCopy()
	edited.Spec.Unschedulable = false
	edited.Spec.Taints = slices.DeleteFunc(edited.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeUnschedulable })
	return edited
}
