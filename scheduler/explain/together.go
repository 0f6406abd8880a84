package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"koordinator.sh/koord/scheduler/frameworkext"
	"koordinator.sh/koord/scheduler/part"
	"koordinator.sh/koord/scheduler/reason"
)

const (
	// maxPlacements bounds how many pods are placed for one explanation, over all changes and orders that are tried: a few seconds.
	maxPlacements = 4000
	// maxOrders bounds the orders in which pods are placed together, before one of them counts as refused.
	maxOrders = 5
	// maxScored bounds the nodes among which the best is chosen, for all pods that are placed together.
	maxScored = 256
)

// notReplayed refuses nodes for a pod whose companions were too many to be placed once more.
const notReplayed = "the gang has too many pods to place all of them in a simulation"

// heldBack is a pod that could have a node, and gets none because another one that is placed together with it finds none.
type heldBack struct {
	by      reason.Grouper
	reason  string
	subject reason.Subject
	// refused is the pod that finds no node in view, where the others have theirs; placed counts those.
	refused *corev1.Pod
	view    *clusterView
	placed  int
}

// placeTogether refuses all nodes of an evaluation when the pods that are placed together with the pod do not all find nodes.
// They are placed one after the other, each on the node that the scheduler would choose with those before it there: in the order of
// the queue; should that leave one without, the largest first; and then a few times with the one that was left without before the
// others. A change has to help in the order of the queue: the scheduler gets to the other ones late, or by chance.
func (s *simulation) placeTogether(ctx context.Context, w *clusterView, e *evaluation) error {
	by, companions := s.companions(e)
	if len(companions) == 0 {
		return nil
	}
	if s.placements > maxPlacements {
		e.refuse(refusal{plugin: by.Name(), reason: notReplayed, final: true})
		return nil
	}
	allowed := e.feasible()
	var best, last *replay
	order := companions
	orders := maxOrders
	if s.changing {
		orders = 1
	}
	for attempt := range orders {
		if s.placements += len(companions); attempt > 0 && s.placements > maxPlacements {
			break
		}
		switch {
		case attempt == 1:
			order = largestFirst(companions)
		case attempt > 1:
			order = first(order, last.refused)
		}
		last = s.newReplay(w, e.pod, allowed, len(companions))
		if err := last.place(ctx, by, order); err != nil {
			return err
		}
		if s.simulated.show(last.view); by.Complete(e.pod) && last.refused != e.pod {
			s.simulated.show(w)
			return nil
		}
		if best == nil || last.placed > best.placed {
			best = last
		}
	}
	s.simulated.show(w)
	text, subject := by.HeldBack(e.pod, best.refused, best.placed, "")
	e.held = &heldBack{by: by, reason: text, subject: subject, refused: best.refused, view: best.view, placed: best.placed}
	e.refuse(refusal{plugin: by.Name(), reason: text, final: true})
	return nil
}

// companions are the pods that are placed together with that of the evaluation, which is among them as it is evaluated; none when
// it is refused anyway, or is placed by itself.
func (s *simulation) companions(e *evaluation) (reason.Grouper, []*corev1.Pod) {
	if len(e.feasible()) == 0 {
		return nil, nil
	}
	for _, by := range s.groupers {
		list := slices.Clone(by.Together(e.pod))
		at := slices.IndexFunc(list, func(other *corev1.Pod) bool { return other.UID == e.pod.UID })
		if at < 0 {
			continue
		}
		list[at] = e.pod
		slices.SortStableFunc(list, func(a, b *corev1.Pod) int { // a recreated pod comes after those that are there
			return cmp.Or(cmp.Compare(corev1helpers.PodPriority(b), corev1helpers.PodPriority(a)), a.CreationTimestamp.Compare(b.CreationTimestamp.Time))
		})
		return by, list
	}
	return nil, nil
}

// refuse adds a refusal to every node.
func (e *evaluation) refuse(r refusal) {
	for i := range e.refusals {
		e.refusals[i] = append(e.refusals[i], r)
	}
}

// largestFirst orders pods by the CPU and then the memory that they request.
func largestFirst(pods []*corev1.Pod) []*corev1.Pod {
	size := func(pod *corev1.Pod) (cpu, memory int64) {
		requests := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
		return requests.Cpu().MilliValue(), requests.Memory().Value()
	}
	ordered := slices.Clone(pods)
	slices.SortStableFunc(ordered, func(a, b *corev1.Pod) int {
		cpuA, memoryA := size(a)
		cpuB, memoryB := size(b)
		return cmp.Or(cmp.Compare(cpuB, cpuA), cmp.Compare(memoryB, memoryA))
	})
	return ordered
}

// first puts one of the pods before the others.
func first(pods []*corev1.Pod, one *corev1.Pod) []*corev1.Pod {
	ordered := []*corev1.Pod{one}
	for _, pod := range pods {
		if pod != one {
			ordered = append(ordered, pod)
		}
	}
	return ordered
}

// replay places pods in its own view, one after the other.
type replay struct {
	*simulation
	view *clusterView
	// asked is the pod that the question is about, and allowed the nodes on which it may be placed.
	asked   *corev1.Pod
	allowed []fwk.NodeInfo
	// next is where the search for a node goes on, so that similar pods get adjacent nodes.
	next int
	// scored bounds the nodes among which one pod's is chosen.
	scored int
	// refused is the first pod that found no node.
	refused *corev1.Pod
	placed  int
}

func (s *simulation) newReplay(w *clusterView, asked *corev1.Pod, allowed []fwk.NodeInfo, pods int) *replay {
	own := w.retrying(asked).forked() // who was refused a moment ago is tried like the others
	return &replay{simulation: s, view: own, asked: asked, allowed: allowed, scored: max(1, maxScored/pods)}
}

// place puts pods on nodes until those that need nodes together have them, the pod that the question is about among them.
func (r *replay) place(ctx context.Context, by reason.Grouper, pods []*corev1.Pod) error {
	done := false
	for _, pod := range pods {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("place %d pods together: %w", len(pods), context.Cause(ctx))
		}
		r.simulated.show(r.view)
		if done && by.Complete(r.asked) {
			return nil
		}
		placed, err := r.one(ctx, pod)
		if err != nil {
			return err
		}
		switch {
		case placed:
			r.placed++
		case r.refused == nil || pod == r.asked:
			r.refused = pod
		}
		done = done || pod == r.asked
	}
	return nil
}

// one puts a pod on the best of the first nodes that take it; false when none does.
func (r *replay) one(ctx context.Context, pod *corev1.Pod) (bool, error) {
	all, err := r.view.List()
	if err != nil {
		return false, fmt.Errorf("list nodes: %w", err)
	}
	run := r.newRun(pod)
	run.preFilter(ctx, all)
	if len(run.everywhere) > 0 {
		return false, nil
	}
	nodes := all
	if pod == r.asked {
		nodes = r.allowed
	}
	var passing []fwk.NodeInfo
	last := r.next
	for offset := 0; offset < len(nodes) && len(passing) < r.scored; offset++ {
		at := (r.next + offset) % len(nodes)
		info, err := r.view.Get(nodes[at].Node().Name)
		if err != nil {
			return false, err
		}
		if run.passes(ctx, info) {
			passing, last = append(passing, info), at
		}
	}
	if len(passing) == 0 {
		return false, nil
	}
	if pod != r.asked && r.scored == 1 {
		r.next = last
	}
	name := r.best(ctx, run.state, pod, passing)
	return true, r.view.addPod(r.allocate(ctx, run.state, pod, name), name, r.now)
}

// best is the node that scores highest, the first by name among equals; the first one where scoring fails.
func (r *replay) best(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo) string {
	if len(nodes) > 1 && r.framework.RunPreScorePlugins(ctx, state, pod, nodes).IsSuccess() {
		if scored, status := r.framework.RunScorePlugins(ctx, state, pod, nodes); status.IsSuccess() {
			return slices.MinFunc(scored, func(a, b fwk.NodePluginScores) int {
				return cmp.Or(cmp.Compare(b.TotalScore, a.TotalScore), cmp.Compare(a.Name, b.Name))
			}).Name
		}
	}
	return nodes[0].Node().Name
}

// passes runs the filters on one node until one refuses it.
func (r *filterRun) passes(ctx context.Context, info fwk.NodeInfo) bool {
	info = frameworkext.NodeOf(r.state, info)
	for _, allowed := range r.refusedBy {
		if !allowed.Has(info.Node().Name) {
			return false
		}
	}
	state, filtered, nominated, err := r.withNominated(ctx, info)
	if err != nil {
		return false
	}
	for _, plugin := range r.filter {
		if r.skipped.Has(plugin.Name()) {
			continue
		}
		if !plugin.Filter(ctx, state, r.pod, filtered).IsSuccess() || nominated && !plugin.Filter(ctx, r.state, r.pod, info).IsSuccess() {
			return false
		}
	}
	return true
}

// allocate is the pod on its node, with the annotations that say which CPUs and devices it got.
func (r *replay) allocate(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, node string) *corev1.Pod {
	for _, plugin := range r.allocators {
		_ = plugin.Reserve(ctx, state, pod, node) // a pod that could not be given them counts without
	}
	placed := pod.DeepCopy()
	if r.annotator != nil {
		placed = r.annotator.Annotated(state, pod, r.now())
	}
	placed.Spec.NodeName = node
	return placed
}

// addPod puts a pod on its node, in this view itself.
func (w *clusterView) addPod(pod *corev1.Pod, node string, now func() time.Time) error {
	info, err := w.Get(node)
	if err != nil {
		return err
	}
	podInfo, err := framework.NewPodInfo(pod)
	if err != nil {
		return fmt.Errorf("place pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	changed := info.Snapshot()
	changed.AddPodInfo(podInfo)
	w.nodes[node] = changed
	w.peopled = append(w.peopled, node)
	w.list.Store(nil)
	for _, view := range w.views {
		if placer, concerned := view.(part.PodPlacer); concerned {
			placer.Place(pod, now())
		}
	}
	return nil
}

// withMember puts an edited pod in the place of the one that is not on a node yet.
func (w *clusterView) withMember(pod *corev1.Pod) *clusterView {
	edited := w.edit()
	for i, view := range edited.views {
		if editor, concerned := view.(part.PodEditor); concerned {
			edited.views[i] = editor.WithPod(pod)
		}
	}
	return edited
}

// retrying supposes that those that hold a pod back were not refused a moment ago.
func (w *clusterView) retrying(pod *corev1.Pod) *clusterView {
	edited := w.edit()
	for i, view := range edited.views {
		if retrier, ok := view.(part.Retrier); ok {
			edited.views[i], _ = retrier.Retrying(pod)
		}
	}
	return edited
}
