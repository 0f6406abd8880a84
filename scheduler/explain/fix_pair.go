package explain

import (
	"cmp"
	"context"
	"slices"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

const (
	// maxPairNodes bounds the nodes on which two changes are looked for, maxAlike those of them that the same plugins refuse.
	maxPairNodes = 24
	maxAlike     = 4
	// maxFirstSteps bounds the changes that are followed by another one, maxSecondSteps those tried after each.
	maxFirstSteps  = 24
	maxSecondSteps = 8
	// maxEvictedPairs bounds the evictions among all of them.
	maxEvictedPairs = 8
)

// cheapestPair looks for two changes, below a cost, that together make a node pass. The second is proposed by what still refuses the
// nodes after the first, so that its numbers are right; nil when none of the pairs tried helps.
func (s *simulation) cheapestPair(ctx context.Context, w *clusterView, e *evaluation, below float64) (*candidate, error) {
	chosen := e.representatives()
	names := make([]string, len(chosen))
	for i, index := range chosen {
		names[i] = e.nodes[index].Node().Name
	}
	steps, err := s.firstSteps(ctx, w, e, chosen)
	if err != nil {
		return nil, err
	}
	var best *candidate
	evictions := maxEvictedPairs
	for _, first := range steps {
		if first.cost >= below || first.cost >= costEvict && evictions == 0 {
			break
		}
		if first.cost >= costEvict {
			evictions--
		}
		edited, pod, ok := first.apply(w, e.pod)
		if !ok {
			continue
		}
		after, err := s.evaluate(ctx, edited, pod, names...)
		if err != nil {
			return nil, err
		}
		second, err := s.cheapest(ctx, edited, after, below-first.cost, maxSecondSteps, &evictions)
		if err != nil {
			return nil, err
		}
		if second != nil {
			both := first.then(*second)
			best, below = &both, both.cost
		}
	}
	return best, nil
}

// firstSteps proposes changes that each lift one of the refusals of a node, the cheapest first.
func (s *simulation) firstSteps(ctx context.Context, w *clusterView, e *evaluation, nodes []int) ([]candidate, error) {
	proposed := map[string]bool{}
	var list []candidate
	for _, i := range nodes {
		for j := range e.refusals[i] {
			steps, err := s.candidates(ctx, w, e.only(i, j))
			if err != nil {
				return nil, err
			}
			for _, c := range steps {
				if !proposed[c.fix.Description] {
					proposed[c.fix.Description] = true
					list = append(list, c)
				}
			}
		}
	}
	return keepCheapest(list, maxFirstSteps), nil
}

// only is the evaluation of one node as if it had a single refusal.
func (e *evaluation) only(node, refused int) *evaluation {
	return &evaluation{
		pod: e.pod, state: e.state, nodes: e.nodes[node : node+1], filtered: e.filtered[node : node+1], states: e.states[node : node+1],
		refusals: [][]refusal{e.refusals[node][refused : refused+1]}, failures: e.failures, partial: true,
	}
}

// representatives picks nodes to look for two changes on: those with the fewest refusals first, and few of those that the
// same plugins refuse.
func (e *evaluation) representatives() []int {
	order := make([]int, len(e.nodes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(e.refusals[a]), len(e.refusals[b])) })
	alike := map[string]int{}
	var chosen []int
	for _, i := range order {
		signature := signatureOf(e.refusals[i])
		if alike[signature]++; alike[signature] > maxAlike {
			continue
		}
		if chosen = append(chosen, i); len(chosen) == maxPairNodes {
			break
		}
	}
	return chosen
}

func signatureOf(refusals []refusal) string {
	var text strings.Builder
	for _, r := range refusals {
		text.WriteString(r.plugin + "\x00" + r.reason + "\x00")
	}
	return text.String()
}

// then makes one change of two.
func (c candidate) then(next candidate) candidate {
	both := candidate{
		cost: c.cost + next.cost, pod: cmp.Or(next.pod, c.pod), of: c.of, links: append(slices.Clone(c.steps()), next.steps()...),
		fix: diagnosticsv1alpha1.Fix{
			Target: diagnosticsv1alpha1.FixCluster, Kind: c.fix.Kind + "+" + next.fix.Kind, Node: next.fix.Node,
			Description: c.fix.Description + "; and " + next.fix.Description,
			Steps:       slices.Concat(c.fix.Steps, next.fix.Steps),
			Mentions:    slices.Concat(c.fix.Mentions, next.fix.Mentions),
		},
	}
	if c.fix.Target == next.fix.Target {
		both.fix.Target = c.fix.Target
	}
	return both
}
