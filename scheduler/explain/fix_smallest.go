package explain

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// smallest makes a change that helps as small as it can be: without every step that it helps without, and with requests that are
// reduced by no more than the other steps leave to them.
func (s *simulation) smallest(ctx context.Context, w *clusterView, e *evaluation, found *candidate) (*candidate, error) {
	steps := found.steps()
	if len(steps) == 1 {
		return found, nil
	}
	steps, err := s.withoutUnneeded(ctx, w, e.pod, steps, found.fix.Node)
	if err != nil {
		return nil, err
	}
	for i := range steps {
		if steps[i].reduced == nil || slices.ContainsFunc(steps[i+1:], steps[i].sameField) {
			continue
		}
		if steps[i], err = s.reducedLess(ctx, w, e.pod, steps, i); err != nil {
			return nil, err
		}
	}
	least := join(steps)
	return &least, nil
}

// withoutUnneeded leaves out every step without which some node passes, the dearest first.
func (s *simulation) withoutUnneeded(ctx context.Context, w *clusterView, pod *corev1.Pod, steps []candidate, node string) ([]candidate, error) {
	order := slices.Clone(steps)
	slices.SortStableFunc(order, func(a, b candidate) int { return cmp.Compare(b.cost, a.cost) })
	for _, dear := range order {
		at := slices.IndexFunc(steps, func(l candidate) bool { return l.fix.Description == dear.fix.Description })
		if len(steps) == 1 || slices.ContainsFunc(steps[at+1:], dear.isPartOf) {
			continue
		}
		fewer := slices.Delete(slices.Clone(steps), at, at+1)
		passing, err := s.passing(ctx, w, pod, join(fewer))
		if err != nil {
			return nil, err
		}
		if len(passing) == 0 {
			continue
		}
		if steps = fewer; !slices.Contains(passing, node) {
			node = passing[0]
		}
	}
	last := &steps[len(steps)-1]
	last.fix.Node = node
	return steps, nil
}

// isPartOf is true when a later change builds on this one: it replaces an object and so includes this change, or it changes the same
// field of the pod, so that its text starts from the value set here. Reduced requests are exempt: they are searched for again.
func (c candidate) isPartOf(later candidate) bool {
	return c.edit != nil && later.replaces || later.reduced == nil && c.sameField(later)
}

// sameField is true for changes that both make something else of the same field of the pod.
func (c candidate) sameField(other candidate) bool {
	return c.pod != nil && other.pod != nil && changed(c.of, c.pod).HasAny(changed(other.of, other.pod).UnsortedList()...)
}

// reducedRequest is a request of a pod that was reduced.
type reducedRequest struct {
	name  corev1.ResourceName
	total int64
}

// reducedLess looks for the smallest reduction with which the node passes when the other steps are made.
func (s *simulation) reducedLess(ctx context.Context, w *clusterView, pod *corev1.Pod, steps []candidate, at int) (candidate, error) {
	name, best := steps[at].reduced.name, steps[at].reduced.total
	node, asked := steps[len(steps)-1].fix.Node, requestOf(pod, name)
	with := func(total int64) []candidate {
		changed := slices.Clone(steps)
		changed[at] = shrinking(pod, name, asked, total, steps[at].fix.Node)
		return changed
	}
	for _, unit := range unitsOf(name) {
		count, err := largestCount((best+unit-1)/unit, (asked+unit-1)/unit, func(count int64) (bool, error) {
			works, err := s.try(ctx, w, pod, join(with(count*unit)), node)
			return works > 0, err
		})
		if err != nil {
			return steps[at], err
		}
		best = max(best, count*unit)
	}
	return with(best)[at], nil
}
