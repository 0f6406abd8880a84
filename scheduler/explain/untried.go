package explain

import (
	"context"
	"slices"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/scheduling/gang"
)

// untried is the evaluation of a pod as if no member of its gang had been refused a moment ago: what keeps the pod from being looked
// at says nothing of why that member finds no node. It is the same evaluation for any other pod.
func (s *simulation) untried(ctx context.Context, w *clusterView, e *evaluation) (*clusterView, *evaluation, error) {
	_, belongs := gang.KeyOf(e.pod)
	waits := func(refusals []refusal) bool {
		return slices.ContainsFunc(refusals, func(r refusal) bool { return r.everywhere && s.codeOf(r) == finding.GangMemberRefused })
	}
	if !belongs || !slices.ContainsFunc(e.refusals, waits) {
		return w, e, nil
	}
	edited := w.retrying(e.pod)
	after, err := s.evaluate(ctx, edited, e.pod)
	if err != nil {
		return nil, nil, err
	}
	return edited, after.decided(), nil
}
