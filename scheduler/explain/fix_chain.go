package explain

import (
	"context"
	"slices"
	"strings"
	"unicode"

	corev1 "k8s.io/api/core/v1"
)

const (
	// maxChainNodes bounds the nodes on which a chain of changes is looked for, maxLinks the changes of one, and maxLinkTrials
	// those tried for each of them.
	maxChainNodes = 4
	maxLinks      = 8
	maxLinkTrials = 12
)

// chain is a number of changes that are made one after the other for one node.
type chain struct {
	node  string
	links []candidate
	// view and pod with all of them made, and what still refuses the node.
	view  *clusterView
	pod   *corev1.Pod
	after *evaluation
}

// cheapestChain looks for more than two changes that together make a node pass, on the nodes with the fewest refusals. The
// cheapest change that lifts a refusal comes first, the next is proposed by what is left then. Nil when no node is reached.
func (s *simulation) cheapestChain(ctx context.Context, w *clusterView, e *evaluation) (*candidate, error) {
	var best *candidate
	chosen := e.representatives()
	for _, i := range chosen[:min(maxChainNodes, len(chosen))] {
		found, err := s.follow(ctx, chain{node: e.nodes[i].Node().Name, view: w, pod: e.pod})
		if err != nil {
			return nil, err
		}
		if found == nil {
			continue
		}
		if all := join(found.links); best == nil || all.cost < best.cost {
			best = &all
		}
	}
	return best, nil
}

// follow adds links until nothing refuses the node; nil when that is not reached.
func (s *simulation) follow(ctx context.Context, c chain) (*chain, error) {
	var err error
	if c.after, err = s.evaluate(ctx, c.view, c.pod, c.node); err != nil {
		return nil, err
	}
	for len(c.links) < maxLinks && len(c.after.refusals[0]) > 0 {
		next, err := s.link(ctx, c)
		if next == nil || err != nil {
			return nil, err
		}
		c = *next
	}
	if len(c.after.refusals[0]) > 0 {
		return nil, nil
	}
	return &c, nil
}

// link adds the cheapest change that lifts a refusal and brings no other; where there is none among those tried, one that changes
// the amounts of a refusal, which is a step that may never arrive. Nil when there is none of these either.
func (s *simulation) link(ctx context.Context, c chain) (*chain, error) {
	steps, err := s.steps(ctx, c)
	if err != nil {
		return nil, err
	}
	var closer *chain
	for _, step := range steps {
		edited, pod, ok := step.apply(c.view, c.pod)
		if !ok {
			continue
		}
		after, err := s.evaluate(ctx, edited, pod, c.node)
		if err != nil {
			return nil, err
		}
		if !lifts(c.after.refusals[0], after.refusals[0]) {
			continue
		}
		longer := &chain{node: c.node, links: append(slices.Clip(c.links), step), view: edited, pod: pod, after: after}
		if lifts(withoutNumbers(c.after.refusals[0]), withoutNumbers(after.refusals[0])) {
			return longer, nil
		}
		if closer == nil {
			closer = longer
		}
	}
	return closer, nil
}

// withoutNumbers has the same texts for refusals that differ in amounts only.
func withoutNumbers(refusals []refusal) []refusal {
	list := slices.Clone(refusals)
	for i := range list {
		list[i].reason = strings.Map(func(r rune) rune {
			if unicode.IsDigit(r) {
				return -1
			}
			return r
		}, list[i].reason)
	}
	return list
}

// steps proposes changes that each lift one refusal or all of them. A node that is yet to be added is not changed itself.
func (s *simulation) steps(ctx context.Context, c chain) ([]candidate, error) {
	list, err := s.firstSteps(ctx, c.view, c.after, []int{0})
	if err != nil {
		return nil, err
	}
	last, err := s.candidates(ctx, c.view, c.after)
	if err != nil {
		return nil, err
	}
	for _, step := range last {
		if !slices.ContainsFunc(list, func(other candidate) bool { return other.fix.Description == step.fix.Description }) {
			list = append(list, step)
		}
	}
	if c.view.isAdded(c.node) {
		list = slices.DeleteFunc(list, func(step candidate) bool { return step.edit != nil && !step.shared })
	}
	return keepCheapest(list, maxLinkTrials), nil
}

// lifts is true when fewer refusals are left, or as many of which one is new: a plugin may report only one reason at a time.
func lifts(before, after []refusal) bool {
	gone := func(r refusal) bool { return !slices.Contains(after, r) }
	return len(after) < len(before) || len(after) == len(before) && slices.ContainsFunc(before, gone)
}

// join makes one change of several.
func join(links []candidate) candidate {
	all := links[0]
	for _, next := range links[1:] {
		all = all.then(next)
	}
	return all
}
