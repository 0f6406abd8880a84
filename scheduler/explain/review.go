package explain

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/refusals"
	"koordinator.sh/koord/scheduler/part"
)

// maxReviewNodes is the most nodes that are listed in a reason of a PlacementReview.
const maxReviewNodes = 100

// reviewBudget is how long pods are placed for one review; what was not placed by then is named in the answer.
const reviewBudget = 20 * time.Second

// ReviewPlacements says which nodes pods would get, with all plugins of their profiles. It returns a copy of the question with the status
// filled in. An unknown node, of offers or that new ones should be like, is a NotFound error; a context that ends first is an error, too, and so is a
// panic.
func (e *Engine) ReviewPlacements(ctx context.Context, question *diagnosticsv1alpha1.PlacementReview) (reviewed *diagnosticsv1alpha1.PlacementReview, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			klog.FromContext(ctx).Error(nil, "Reviewing placements panicked", "panic", cause, "stack", string(debug.Stack()))
			reviewed, err = nil, fmt.Errorf("review placements: panic: %v", cause)
		}
	}()
	select {
	case e.turn <- struct{}{}:
		defer func() { <-e.turn }()
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for other explanations: %w", context.Cause(ctx))
	}
	began := e.config.Now()
	view, err := e.refresh()
	if err != nil {
		return nil, err
	}
	r := &placementReview{engine: e, view: view.forked(), until: began.Add(reviewBudget), excluded: question.Spec.ExcludedNodes, limit: defaultMaxNodes}
	if most := question.Spec.MaxNodes; most != nil {
		r.limit = int(min(max(*most, 0), maxReviewNodes))
	}
	answer := *question
	answer.SetGroupVersionKind(diagnosticsv1alpha1.GroupVersion.WithKind("PlacementReview"))
	answer.Status = diagnosticsv1alpha1.PlacementReviewStatus{}
	if err := r.answer(ctx, &answer); err != nil {
		return nil, err
	}
	answer.Status.Incomplete = r.incomplete
	answer.Status.Origin = e.origin(began)
	return &answer, nil
}

// answer places everything that is asked for, in the order of the fields of the question.
func (r *placementReview) answer(ctx context.Context, review *diagnosticsv1alpha1.PlacementReview) error {
	err := r.offer(review.Spec.Offers)
	if err != nil {
		return err
	}
	review.Status.Offers = int32(len(review.Spec.Offers))
	if review.Status.NewNodes, err = r.join(review.Spec.NewNodes); err != nil {
		return err
	}
	for _, asked := range review.Spec.Pods {
		placement, err := r.place(ctx, asked)
		if err != nil {
			return fmt.Errorf("review pod %s/%s: %w", asked.Namespace, asked.Name, err)
		}
		review.Status.Placements = append(review.Status.Placements, placement)
	}
	if review.Spec.Waiting {
		waiting, err := r.placeWaiting(ctx, diagnosticsv1alpha1.MaxPlacementReviewPods-len(review.Spec.Pods))
		if err != nil {
			return err
		}
		review.Status.Placements = append(review.Status.Placements, waiting...)
	}
	for _, asked := range review.Spec.Copies {
		placed, err := r.placeCopies(ctx, asked)
		if err != nil {
			return fmt.Errorf("review copies of pod %s/%s: %w", asked.Namespace, asked.Like, err)
		}
		review.Status.Copies = append(review.Status.Copies, placed)
	}
	return nil
}

// placementReview places pods one after the other.
type placementReview struct {
	engine *Engine
	// until is when no further pod is placed.
	until time.Time
	// view has the pods that were moved before on their new nodes.
	view       *clusterView
	excluded   []string
	limit      int
	incomplete []string
}

// place finds a node for one pod, and moves it there in the view.
func (r *placementReview) place(ctx context.Context, asked diagnosticsv1alpha1.PlacementReviewPod) (diagnosticsv1alpha1.PodPlacement, error) {
	answer := diagnosticsv1alpha1.PodPlacement{Namespace: asked.Namespace, Name: asked.Name}
	pod, err := r.engine.pods.Pods(asked.Namespace).Get(asked.Name)
	if err != nil && !apierrors.IsNotFound(err) {
		return answer, err
	}
	if err != nil || asked.UID != "" && asked.UID != pod.UID {
		answer.Verdict, answer.Summary = diagnosticsv1alpha1.PlacementGone, "the pod does not exist"
		return answer, nil
	}
	sim := r.engine.simulations[pod.Spec.SchedulerName]
	answer.From = pod.Spec.NodeName
	switch {
	case answer.From == "":
		answer.Verdict, answer.Summary = diagnosticsv1alpha1.PlacementNotBound, "the pod is not bound to a node"
		return answer, nil
	case sim == nil:
		answer.Verdict = diagnosticsv1alpha1.PlacementOtherScheduler
		answer.Summary = fmt.Sprintf("scheduler %q is not a profile of koord-scheduler", pod.Spec.SchedulerName)
		return answer, nil
	}
	r.noteExtenders(sim)
	without, err := r.view.withoutPod(pod, answer.From)
	if err != nil {
		return answer, fmt.Errorf("take the pod off node %q: %w", answer.From, err)
	}
	return answer, r.find(ctx, sim, without.forked(), replacement(pod), asked.Targets, &answer)
}

// find evaluates a pod that is on no node, and puts it on the node that it gets.
func (r *placementReview) find(ctx context.Context, sim *simulation, view *clusterView, pod *corev1.Pod, targets []string, answer *diagnosticsv1alpha1.PodPlacement) error {
	known := slices.DeleteFunc(slices.Clone(targets), func(name string) bool { _, err := view.Get(name); return err != nil })
	if len(targets) > 0 && len(known) == 0 {
		answer.Verdict, answer.Summary = diagnosticsv1alpha1.PlacementNone, "none of the targets exists"
		return nil
	}
	sim.placements = 0
	e, err := sim.evaluate(ctx, view, pod, known...)
	if err != nil {
		return err
	}
	for _, message := range e.failures.messages() {
		r.note(message)
	}
	r.exclude(e, answer.From)
	feasible := e.feasible()
	if len(feasible) == 0 {
		groups := sim.groupRefusals(ctx, e)
		answer.Verdict, answer.Summary = diagnosticsv1alpha1.PlacementNone, refusals.Summarise(0, len(e.nodes), groups)
		for _, group := range groups {
			answer.Groups = append(answer.Groups, group.Publish(r.limit))
		}
		return nil
	}
	replay := &replay{simulation: sim, view: view}
	node := feasible[0].Node().Name // of the targets, in their order
	if len(known) == 0 {
		node = replay.best(ctx, e.state, pod, feasible)
	}
	if err := view.addPod(replay.allocate(ctx, e.state, pod, node), node, sim.now); err != nil {
		return err
	}
	r.view = view
	answer.Verdict, answer.Node = diagnosticsv1alpha1.PlacementFound, node
	answer.Summary = fmt.Sprintf("%d/%d nodes are available, %s is taken", len(feasible), len(e.nodes), node)
	return nil
}

// noteExtenders names the extenders of a profile, which are not asked.
func (r *placementReview) noteExtenders(sim *simulation) {
	for _, extender := range sim.extenders {
		r.note(fmt.Sprintf("extender %q was not consulted", extender))
	}
}

// exclude refuses the nodes that take none of the pods, and the one that the pod leaves.
func (r *placementReview) exclude(e *evaluation, from string) {
	for i, info := range e.nodes {
		switch name := info.Node().Name; {
		case name == from:
			e.refusals[i] = append(e.refusals[i], refusal{plugin: reviewName, reason: "node(s) were the one that the pod leaves", final: true})
		case slices.Contains(r.excluded, name):
			e.refusals[i] = append(e.refusals[i], refusal{plugin: reviewName, reason: "node(s) were excluded", final: true})
		}
	}
}

// reviewName is what refuses excluded nodes.
const reviewName = "PlacementReview"

// note adds what is missing of the answer, once.
func (r *placementReview) note(missing string) {
	if !slices.Contains(r.incomplete, missing) {
		r.incomplete = append(r.incomplete, missing)
	}
}

// replacement is the pod that takes the place of one that left its node: nothing is allocated to it yet.
func replacement(pod *corev1.Pod) *corev1.Pod {
	made := pod.DeepCopy()
	made.Spec.NodeName = ""
	made.Status = corev1.PodStatus{}
	for _, key := range allocations {
		delete(made.Annotations, key)
	}
	return made
}

// forked is a view whose pods may be placed one after the other.
func (w *clusterView) forked() *clusterView {
	own := w.edit()
	for i, view := range own.views {
		if placer, concerned := view.(part.PodPlacer); concerned {
			own.views[i] = placer.Fork()
		}
	}
	return own
}
