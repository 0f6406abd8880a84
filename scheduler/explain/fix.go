package explain

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/kubectl"
	"koordinator.sh/koord/scheduler/reason"
)

const (
	// maxTrials bounds how many single changes are tried for one explanation.
	maxTrials = 60
	// maxEvictionTrials bounds those of them that evict pods; trying one is dear, because it changes quotas.
	maxEvictionTrials = 16
)

// Costs order changes, on the scale of reason.Change: 1 is a label of the pod itself, 10 an edit of a shared object, 100 the
// loss of running work. What repairs something broken comes first. A change that has a size costs more the larger it is.
const (
	costToleration = 2.0 // for each taint
	costSelector   = 3.0
	costUncordon   = 10.0
	costEvict      = reason.CostEvict
)

// candidate is a change that might make the pod schedulable.
type candidate struct {
	cost float64
	fix  diagnosticsv1alpha1.Fix
	// pod is the edited pod, and of the pod that it was made from; nil when the pod stays as it is.
	pod, of *corev1.Pod
	// links are the changes that this one consists of; none for a single one.
	links []candidate
	// reduced is set for a request that was reduced as little as possible.
	reduced *reducedRequest
	// edit makes the edited view; nil when the cluster stays as it is.
	edit func(*clusterView) (*clusterView, error)
	// replaces is true when the edit puts an object into the place of another, with all that was changed of that before.
	replaces bool
	// shared is true when the edit is of an object that belongs to no node, such as a quota.
	shared bool
}

// search looks for the cheapest change after which some node passes every filter: a single one, or else two together, or else
// a longer chain; one more node where that would be cheaper, and at last one with other changes. For a pod that is held back by
// another one, a change is one that gives the other one a node. Only what was tried with all filters is returned; nil means
// that nothing tried helps.
func (s *simulation) search(ctx context.Context, w *clusterView, e *evaluation) (*diagnosticsv1alpha1.Fix, error) {
	s.changing = true
	defer func() { s.changing = false }()
	own, err := s.searchFor(ctx, w, e)
	if err != nil || e.held == nil {
		return own.published(), err
	}
	theirs, err := s.searchForRefused(ctx, w, e)
	if err != nil || theirs == nil || own != nil && own.cost <= theirs.cost {
		return own.published(), err
	}
	return theirs.published(), nil
}

// searchForRefused is search for the pod that holds this one back, once the others have their nodes. What is found is tried with
// all of them again; nil when nothing helps.
func (s *simulation) searchForRefused(ctx context.Context, w *clusterView, e *evaluation) (*candidate, error) {
	refused, err := s.evaluate(ctx, e.held.view, e.held.refused)
	if err != nil {
		return nil, err
	}
	found, err := s.searchFor(ctx, e.held.view, refused.decided())
	if found == nil || err != nil {
		return nil, err
	}
	changed, pod, ok := found.apply(w, refused.pod)
	if !ok {
		return nil, nil
	}
	asked := e.pod
	if found.pod != nil && pod.UID == asked.UID {
		asked = pod
	} else if found.pod != nil {
		changed = changed.withMember(pod)
	}
	after, err := s.evaluate(ctx, changed, asked)
	if err != nil || len(after.feasible()) == 0 {
		return nil, err
	}
	found.fix.NodesUnlocked = int32(len(after.feasible()))
	if refused.pod.UID != asked.UID {
		found.fix.PodName = refused.pod.Namespace + "/" + refused.pod.Name
		found.fix.Description = fmt.Sprintf("for pod %s: %s", found.fix.PodName, found.fix.Description)
		found.fix.Mentions = append(found.fix.Mentions, reason.Mention(refused.pod))
	}
	return found, nil
}

// published is the fix of a change that was found; nil for none.
func (c *candidate) published() *diagnosticsv1alpha1.Fix {
	if c == nil {
		return nil
	}
	c.fix.Command = kubectl.Line(c.fix.Steps)
	return &c.fix
}

// searchFor is search for one pod.
func (s *simulation) searchFor(ctx context.Context, w *clusterView, e *evaluation) (*candidate, error) {
	evictions := maxEvictionTrials
	best, err := s.cheapest(ctx, w, e, math.Inf(1), maxTrials, &evictions)
	if err == nil && (best == nil || best.cost >= costEvict) { // two edits are better than running work that is lost
		var pair *candidate
		if pair, err = s.cheapestPair(ctx, w, e, best.costOr(math.Inf(1))); pair != nil {
			best = pair
		}
	}
	if err == nil && best == nil {
		best, err = s.cheapestChain(ctx, w, e)
	}
	if err == nil && (best == nil || best.cost > costAddNode) {
		var added *candidate
		if added, err = s.addition(ctx, w, e); added != nil {
			best = added
		}
	}
	if err == nil && best == nil {
		best, err = s.adaption(ctx, w, e)
	}
	if err != nil || best == nil {
		return nil, err
	}
	if best, err = s.smallest(ctx, w, e, best); err != nil {
		return nil, err
	}
	unlocked, err := s.try(ctx, w, e.pod, *best)
	if err != nil || unlocked == 0 {
		return nil, err
	}
	best.fix.NodesUnlocked, best.fix.Verified = unlocked, true
	best.recreated(e.pod, s.workloads)
	return best, nil
}

// costOr is the cost of a change that was found.
func (c *candidate) costOr(none float64) float64 {
	if c == nil {
		return none
	}
	return c.cost
}

// cheapest finds the cheapest single change, below a cost, after which the node it is for passes; nil when there is none
// among as many as may be tried. Trials that evict are taken off how many may do so.
func (s *simulation) cheapest(ctx context.Context, w *clusterView, e *evaluation, below float64, trials int, evictions *int) (*candidate, error) {
	candidates, err := s.candidates(ctx, w, e)
	if err != nil {
		return nil, err
	}
	for _, c := range keepCheapest(candidates, trials) {
		if c.cost >= below {
			return nil, nil
		}
		if c.cost >= costEvict {
			if *evictions == 0 {
				return nil, nil
			}
			*evictions--
		}
		passing, err := s.passing(ctx, w, e.pod, c, c.mayUnlock(e)...)
		if err != nil {
			return nil, err
		}
		if len(passing) > 0 {
			c.unlocks(passing)
			return &c, nil
		}
	}
	return nil, nil
}

// mayUnlock lists the nodes on which a change is tried: the one that it was proposed for, and where it is of none, others too.
func (c candidate) mayUnlock(e *evaluation) []string {
	names := []string{c.fix.Node}
	if c.edit != nil && !c.shared {
		return names
	}
	for _, i := range e.representatives() {
		if name := e.nodes[i].Node().Name; name != c.fix.Node {
			names = append(names, name)
		}
	}
	return names
}

// unlocks names a node that passes, in the place of one that does not.
func (c *candidate) unlocks(passing []string) {
	if !slices.Contains(passing, c.fix.Node) {
		c.fix.Node = passing[0]
	}
}

// try counts the nodes that pass with a change applied, among the named ones or, without names, among all.
func (s *simulation) try(ctx context.Context, w *clusterView, pod *corev1.Pod, c candidate, nodes ...string) (int32, error) {
	passing, err := s.passing(ctx, w, pod, c, nodes...)
	return int32(len(passing)), err
}

// passing lists the nodes that try counts.
func (s *simulation) passing(ctx context.Context, w *clusterView, pod *corev1.Pod, c candidate, nodes ...string) ([]string, error) {
	w, pod, ok := c.apply(w, pod)
	if !ok {
		return nil, nil
	}
	e, err := s.evaluate(ctx, w, pod, nodes...)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, info := range e.feasible() {
		names = append(names, info.Node().Name)
	}
	return names, nil
}

// apply makes the change; false when it cannot be made, so that it is no fix.
func (c candidate) apply(w *clusterView, pod *corev1.Pod) (*clusterView, *corev1.Pod, bool) {
	before := pod
	for _, step := range c.steps() {
		if step.pod != nil {
			pod = transfer(step.of, step.pod, pod)
		}
		if step.edit == nil {
			continue
		}
		edited, err := step.edit(w)
		if err != nil {
			return w, pod, false
		}
		w = edited
	}
	return w, recreation(before, pod), true
}

// steps are the single changes.
func (c candidate) steps() []candidate {
	if len(c.links) > 0 {
		return c.links
	}
	return []candidate{c}
}

// candidates proposes changes from the refusals of each node that a single kind of change could lift.
func (s *simulation) candidates(ctx context.Context, w *clusterView, e *evaluation) ([]candidate, error) {
	var list []candidate
	if !e.partial {
		shrunk, err := s.shrinkings(ctx, w, e)
		if err != nil {
			return nil, err
		}
		list = shrunk
	}
	s.simulated.show(w) // what plugins advise on
	list = append(list, s.reductions(e)...)
	list = append(list, tolerations(e)...)
	list = append(list, selectors(e)...)
	list = append(list, leniences(e)...)
	list = append(list, uncordons(e)...)
	list = append(list, s.clusterAdvice(ctx, e)...)
	list = append(list, s.releases(e)...)
	list = append(list, s.evictions(e)...)
	list = append(list, fewer(e)...)
	list = append(list, s.advice(ctx, e)...)
	list = slices.DeleteFunc(list, func(c candidate) bool { return c.refusedByAdmission(e.pod) })
	for i := range list {
		list[i].of = e.pod
	}
	return s.permitted(e.pod, ofTemplate(e.pod, list)), nil
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
