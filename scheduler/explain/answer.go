package explain

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/disclosure"
	"koordinator.sh/koord/decision/core/podstate"
	"koordinator.sh/koord/decision/scheduling/refusals"
	"koordinator.sh/koord/decision/scheduling/schedulinghint"
	"koordinator.sh/koord/scheduler/reason"
	"koordinator.sh/koord/scheduler/recovery"
)

const (
	defaultMaxNodes = 5
	largestMaxNodes = 5000
)

// answer finds out which question is asked, from the state the pod is in.
func (e *Engine) answer(ctx context.Context, pod *corev1.Pod, spec diagnosticsv1alpha1.PodExplanationSpec, may disclosure.Access) (*diagnosticsv1alpha1.PodExplanationStatus, error) {
	sim := e.simulations[pod.Spec.SchedulerName]
	status := &diagnosticsv1alpha1.PodExplanationStatus{Pod: factsOf(pod, sim, e.config.Now())}
	pod, assumed := e.assumed(pod)
	status.Pod.NodeName = pod.Spec.NodeName
	status.Findings = schedulinghint.Findings(pod, status.Pod.Hint)
	switch {
	case podstate.Ended(pod):
		status.Verdict = diagnosticsv1alpha1.PodFinished
		status.Summary = podstate.Ending(pod)
		return status, nil
	case sim == nil:
		notResponsible(status, pod)
		return status, nil
	}
	w, err := e.refresh()
	if err != nil {
		return nil, err
	}
	sim.simulated.show(w)
	sim.placements = 0
	if pod.Spec.NodeName == "" && gated(ctx, sim, pod, status) {
		return status, nil
	}
	r := &response{simulation: sim, view: w, status: status, spec: spec, limit: limitOf(spec), may: may}
	for _, extender := range sim.extenders {
		status.Incomplete = append(status.Incomplete, fmt.Sprintf("extender %q was not consulted", extender))
	}
	if pod.Spec.NodeName != "" {
		err = r.bound(ctx, pod, assumed)
	} else {
		err = r.pending(ctx, pod)
	}
	return status, err
}

// assumed returns the pod as the scheduler has it when it has chosen a node and the binding is still on its way.
func (e *Engine) assumed(pod *corev1.Pod) (*corev1.Pod, bool) {
	if pod.Spec.NodeName != "" {
		return pod, false
	}
	if yes, err := e.config.Cache.IsAssumedPod(pod); err != nil || !yes {
		return pod, false
	}
	known, err := e.config.Cache.GetPod(pod)
	if err != nil {
		return pod, false
	}
	return known, true
}

func limitOf(spec diagnosticsv1alpha1.PodExplanationSpec) int {
	if spec.MaxNodes == nil {
		return defaultMaxNodes
	}
	return int(min(max(*spec.MaxNodes, 0), largestMaxNodes))
}

func notResponsible(status *diagnosticsv1alpha1.PodExplanationStatus, pod *corev1.Pod) {
	status.Verdict, status.Code = diagnosticsv1alpha1.PodNotResponsible, string(finding.OtherScheduler)
	status.Summary = fmt.Sprintf("scheduler %q is not a profile of koord-scheduler", pod.Spec.SchedulerName)
}

// gated asks the PreEnqueue plugins whether the pod may be scheduled at all.
func gated(ctx context.Context, sim *simulation, pod *corev1.Pod, status *diagnosticsv1alpha1.PodExplanationStatus) bool {
	for _, plugin := range sim.preEnqueue {
		result := plugin.PreEnqueue(ctx, pod)
		if result.IsSuccess() {
			continue
		}
		code, message := sim.codeOf(refusal{plugin: plugin.Name(), reason: result.Message()}), result.Message()
		group := diagnosticsv1alpha1.RefusalGroup{Plugin: plugin.Name(), Reason: result.Message()}
		var mentions []diagnosticsv1alpha1.SourceRef
		if explainer, ok := plugin.(reason.GateExplainer); ok {
			if subject, ok := explainer.ExplainGate(ctx, pod); ok {
				code, mentions = subject.Code, subject.Mentions
				message, _ = subject.Describe()
			}
		}
		status.Verdict, status.Code, status.Summary = diagnosticsv1alpha1.PodGated, string(code), "gated: "+message
		group.Mentions = mentions
		group.Code, group.Class, group.Message = string(code), string(finding.ClassOf(code)), status.Summary
		status.Groups = []diagnosticsv1alpha1.RefusalGroup{group}
		return true
	}
	return false
}

// response is an answer in the making.
type response struct {
	*simulation
	view   *clusterView
	status *diagnosticsv1alpha1.PodExplanationStatus
	spec   diagnosticsv1alpha1.PodExplanationSpec
	limit  int
	// may says what the caller may do; nil for everything.
	may disclosure.Access
	// heldBack says what refuses the pod because of which this one gets no node.
	heldBack string
}

// pending answers why no node takes the pod, or which one would.
func (r *response) pending(ctx context.Context, pod *corev1.Pod) error {
	e, groups, err := r.judge(ctx, r.view, pod)
	if err != nil {
		return err
	}
	if r.reservations != nil {
		r.status.Reservations = r.reservations.CountReservations(e.state, r.limit)
	}
	r.status.Summary = refusals.Summarise(len(e.feasible()), len(e.nodes), groups) + r.heldBack
	if len(e.feasible()) > 0 {
		r.status.Verdict = diagnosticsv1alpha1.PodSchedulable
		if err := r.place(ctx, e, ""); err != nil {
			r.unscored(e, err)
			return nil
		}
		r.status.Summary = fmt.Sprintf("%d/%d nodes are available, %s scores highest", len(e.feasible()), len(e.nodes), r.status.Placement.Node)
		return nil
	}
	r.status.Verdict = diagnosticsv1alpha1.PodUnschedulable
	if top := refusals.Headline(groups); top != nil {
		r.status.Code = string(top.Code())
	}
	if e = e.decided(); r.spec.SkipFix || len(e.nodes) == 0 {
		return nil
	}
	r.status.Preemption, err = r.preempt(ctx, r.view, e)
	switch {
	case ctx.Err() != nil:
		return err
	case err != nil:
		r.status.Incomplete = append(r.status.Incomplete, err.Error())
	}
	return r.change(ctx, e)
}

// change publishes the smallest change that helps, if any is needed.
func (r *response) change(ctx context.Context, e *evaluation) error {
	w, e, err := r.untried(ctx, r.view, e)
	if err != nil {
		return err
	}
	if len(e.feasible()) > 0 {
		r.status.Summary += " The next scheduling attempt finds a node."
		return nil
	}
	if r.status.Fix, err = r.search(ctx, w, e); err == nil {
		err = r.withinRights(ctx, w, e)
	}
	if err == nil && r.status.Fix == nil {
		r.status.Summary += " No change was found that makes the pod schedulable."
	}
	return err
}

// bound answers why the pod is where it is, by taking it off its node and asking again.
func (r *response) bound(ctx context.Context, pod *corev1.Pod, assumed bool) error {
	node := pod.Spec.NodeName
	r.status.Verdict = diagnosticsv1alpha1.PodBound
	free := pod.DeepCopy()
	free.Spec.NodeName = ""
	w, err := r.view.withoutPod(pod, node)
	if err != nil {
		r.status.Summary = fmt.Sprintf("bound to %s", node)
		r.status.Incomplete = append(r.status.Incomplete, fmt.Sprintf("the pod could not be removed from node %q in the simulation: %v", node, err))
		r.status.Placement = &diagnosticsv1alpha1.Placement{Node: node}
		return nil
	}
	e, groups, err := r.judge(ctx, w, free)
	if err != nil {
		return err
	}
	_ = r.place(ctx, e, node) // the answer is incomplete then, and says so
	r.status.Placement.Note = "evaluated now without the pod on its node; the cluster may have been different when the node was chosen"
	if assumed {
		r.status.Placement.Note = "the node was just chosen and the binding is in progress"
	}
	switch {
	case r.status.Placement.Rank > 0:
		r.status.Summary = fmt.Sprintf("bound to %s, which now ranks %d of %d available nodes", node, r.status.Placement.Rank, len(e.feasible()))
	default:
		r.status.Summary = fmt.Sprintf("bound to %s, which would now be refused%s", node, refusalOn(groups, node))
	}
	return nil
}

// refusalOn says what would refuse a node.
func refusalOn(groups []*refusals.Group, node string) string {
	for _, g := range groups {
		for _, m := range g.Members {
			if m.Node == node {
				message, _ := m.Describe()
				return ": " + message
			}
		}
	}
	return ""
}

// judge evaluates and publishes the refusals.
func (r *response) judge(ctx context.Context, w *clusterView, pod *corev1.Pod) (*evaluation, []*refusals.Group, error) {
	e, err := r.evaluate(ctx, w, pod)
	if err != nil {
		return nil, nil, err
	}
	if err := r.explainHeldBack(ctx, e); err != nil {
		return nil, nil, err
	}
	groups := r.groupRefusals(ctx, e)
	r.status.NodesTotal, r.status.NodesFeasible = int32(len(e.nodes)), int32(len(e.feasible()))
	for _, g := range groups {
		r.status.Groups = append(r.status.Groups, g.Publish(r.limit))
	}
	r.status.Incomplete = append(r.status.Incomplete, e.failures.messages()...)
	return e, groups, nil
}

// explainHeldBack finds out what refuses the pod that finds no node, once those that are placed together with it have theirs. It is
// part of the reason of those, as in their events.
func (r *response) explainHeldBack(ctx context.Context, e *evaluation) error {
	if e.held == nil {
		return nil
	}
	other, err := r.evaluate(ctx, e.held.view, e.held.refused)
	if err != nil {
		return err
	}
	r.simulated.show(r.view)
	e.explain(other.unfit())
	r.heldBack = fmt.Sprintf(" Pod %s/%s: %s", other.pod.Namespace, other.pod.Name,
		refusals.Summarise(len(other.feasible()), len(other.nodes), r.groupRefusals(ctx, other)))
	return nil
}

// unscored is the answer about a pod that passes the filters and whose nodes cannot be scored: the scheduler's own attempts end
// there, too.
func (r *response) unscored(e *evaluation, cause error) {
	r.status.Verdict, r.status.Code = diagnosticsv1alpha1.PodUnschedulable, string(finding.OtherPlugin)
	if recovery.Is(cause.Error()) {
		r.status.Code = string(finding.PluginPanicked)
	}
	r.status.Summary = fmt.Sprintf("%d/%d nodes are available, but none can be chosen: %v", len(e.feasible()), len(e.nodes), cause)
}

// place fills in the placement. An error leaves the answer incomplete.
func (r *response) place(ctx context.Context, e *evaluation, node string) error {
	placement, err := r.simulation.place(ctx, e, node, r.limit)
	if err != nil {
		r.status.Incomplete = append(r.status.Incomplete, err.Error())
		placement = &diagnosticsv1alpha1.Placement{Node: node}
	}
	r.status.Placement = placement
	return err
}
