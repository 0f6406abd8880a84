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
	// maxClusterAdvice bounds those of a plugin that is asked about all nodes at once.
	maxClusterAdvice = 12
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
		for _, change := range adviser.Advise(ctx, e.states[i], e.pod, e.filtered[i], reasons) {
			list = append(list, candidateOf(change, e.nodes[i].Node().Name))
		}
	}
	return list
}

// clusterAdvice asks plugins about all the nodes that each of them refuses alone.
func (s *simulation) clusterAdvice(ctx context.Context, e *evaluation) []candidate {
	var list []candidate
	for _, adviser := range s.clusterAdvisers {
		nodes := e.refusedOnlyBy(adviser.Name())
		if len(nodes) == 0 {
			continue
		}
		var proposed []candidate
		for _, change := range adviser.AdviseCluster(ctx, e.pod, nodes) {
			proposed = append(proposed, candidateOf(change, change.Fix.Node))
		}
		list = append(list, keepCheapest(proposed, maxClusterAdvice)...)
	}
	return list
}

// refusedOnlyBy lists the nodes that one plugin refuses, and no other.
func (e *evaluation) refusedOnlyBy(plugin string) []reason.RefusedNode {
	var nodes []reason.RefusedNode
	for i, refusals := range e.refusals {
		if !refusedBy(refusals, plugin) {
			continue
		}
		reasons := make([]string, len(refusals))
		for j, r := range refusals {
			reasons[j] = r.reason
		}
		nodes = append(nodes, reason.RefusedNode{Info: e.filtered[i], State: e.states[i], Reasons: reasons})
	}
	return nodes
}

// releases proposes to end what holds resources for others on nodes where they are missing.
func (s *simulation) releases(e *evaluation) []candidate {
	var list []candidate
	for info, missing := range s.curable(e) {
		for _, held := range info.GetPods() {
			if held.GetPod().UID == e.pod.UID {
				continue
			}
			for _, releaser := range s.releasers {
				if change, ok := releaser.Release(held.GetPod(), info.Node().Name); ok && frees(held, missing) {
					list = append(list, candidateOf(change, info.Node().Name))
				}
			}
		}
	}
	return keepCheapest(list, maxAdvice)
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
	ofNode := change.EditNode != nil || change.EditMetric != nil
	if ofNode || len(change.Evict) > 0 || change.Object != nil {
		tried.edit = func(w *clusterView) (*clusterView, error) { return w.with(change, fix.Node) }
		tried.replaces = change.Object != nil
		tried.shared = !ofNode && len(change.Evict) == 0
	}
	return tried
}

// with applies a proposal, which is of a node.
func (w *clusterView) with(change reason.Change, node string) (*clusterView, error) {
	edited := w
	var err error
	if change.EditNode != nil {
		if edited, err = edited.editNode(node, change.EditNode); err != nil {
			return nil, err
		}
	}
	if change.EditMetric != nil {
		if edited, err = edited.editMetric(node, change.EditMetric); err != nil {
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
