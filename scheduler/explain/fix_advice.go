package explain

import (
	"cmp"
	"context"
	"slices"

	"koordinator.sh/koord/scheduler/reason"
)

const (
	// maxAdvisedNodes bounds the nodes about which a plugin is asked for advice.
	maxAdvisedNodes = 16
	// maxAdvice bounds the changes of one plugin that are tried.
	maxAdvice = 8
)

// advice asks the plugins that refuse a node what would lift their refusals. Nodes that fewest plugins refuse come first.
func (s *simulation) advice(ctx context.Context, e *evaluation) []candidate {
	var list []candidate
	for _, adviser := range s.advisers {
		list = append(list, keepCheapest(s.adviceOf(ctx, e, adviser), maxAdvice)...)
	}
	return list
}

func (s *simulation) adviceOf(ctx context.Context, e *evaluation, adviser reason.Adviser) []candidate {
	var refused []int
	for i := range e.nodes {
		if slices.ContainsFunc(e.refusals[i], func(r refusal) bool { return r.plugin == adviser.Name() }) {
			refused = append(refused, i)
		}
	}
	slices.SortStableFunc(refused, func(a, b int) int { return cmp.Compare(len(e.refusals[a]), len(e.refusals[b])) })
	var list []candidate
	for _, i := range refused[:min(maxAdvisedNodes, len(refused))] {
		var reasons []string
		for _, r := range e.refusals[i] {
			if r.plugin == adviser.Name() {
				reasons = append(reasons, r.reason)
			}
		}
		for _, change := range adviser.Advise(ctx, e.states[i], e.pod, e.crowded[i], reasons) {
			list = append(list, candidateOf(change, e.nodes[i].Node().Name))
		}
	}
	return list
}

// fewer proposes, for a pod that is held back by another one, that those that found a node are enough.
func fewer(e *evaluation) []candidate {
	if e.held == nil {
		return nil
	}
	fewest := slices.MinFunc(indices(e.nodes), func(a, b int) int { return cmp.Compare(len(e.refusals[a]), len(e.refusals[b])) })
	var list []candidate
	for _, change := range e.held.by.Fewer(e.pod, e.held.placed) {
		list = append(list, candidateOf(change, e.nodes[fewest].Node().Name))
	}
	return list
}

// candidateOf makes a trial of a proposal.
func candidateOf(change reason.Change, node string) candidate {
	fix := change.Fix
	fix.Node = cmp.Or(fix.Node, node)
	tried := candidate{cost: change.Cost, fix: fix, pod: change.Pod}
	if change.Node != nil || len(change.Evict) > 0 || change.Object != nil {
		tried.edit = func(w *world) (*world, error) { return w.with(change) }
		tried.replaces = change.Node != nil || change.Object != nil
		tried.shared = change.Node == nil && len(change.Evict) == 0
	}
	return tried
}

// with applies a proposal.
func (w *world) with(change reason.Change) (*world, error) {
	edited := w
	var err error
	if change.Node != nil {
		if edited, err = edited.withNode(change.Node); err != nil {
			return nil, err
		}
	}
	for _, pod := range change.Evict {
		if edited, err = edited.withoutPod(pod, pod.Spec.NodeName); err != nil {
			return nil, err
		}
	}
	if change.Object != nil {
		return edited.withObject(change.Object)
	}
	return edited, nil
}
