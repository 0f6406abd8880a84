package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	fwk "k8s.io/kube-scheduler/framework"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	decision "koordinator.sh/koord/decision/scheduling/reservation"
)

// maxPreemptedNodes bounds the nodes on which evictions are tried. The scheduler itself looks at a random part of the nodes
// in a large cluster.
const maxPreemptedNodes = 200

// preempt says what the plugins that evict pods would do for a pod that no node takes; nil when the profile has none.
func (s *simulation) preempt(ctx context.Context, w *clusterView, e *evaluation) (*diagnosticsv1alpha1.Preemption, error) {
	if answer, err := s.preemptWhole(ctx, w, e.pod); answer != nil || err != nil {
		return answer, err
	}
	list := s.preemptors
	if decision.IsReservePod(e.pod) { // which are in no cluster, where the others look for them
		list, e = s.reserving, e.eager()
	}
	s.simulated.show(w)
	potential, final := e.preemptible()
	var answers []*diagnosticsv1alpha1.Preemption
	for i := range list {
		answer, err := s.ask(ctx, &list[i], e, potential, final)
		if err != nil {
			return nil, err
		}
		if answer == nil {
			continue
		}
		if answers = append(answers, answer); answer.Verdict == diagnosticsv1alpha1.PreemptionEvicts {
			break
		}
	}
	return declining(answers), nil
}

// ask runs the preemption of one plugin dry; nil when the pod is none of its concern. potential are the nodes where evictions
// may help, final counts the others.
func (s *simulation) ask(ctx context.Context, p *preemptor, e *evaluation, potential []fwk.NodeInfo, final int) (*diagnosticsv1alpha1.Preemption, error) {
	if p.rules != nil {
		if may, why := p.rules.MayPreempt(e.pod); !may {
			return refusing(p.rules.Name(), why), nil
		}
	}
	if ok, why := p.PodEligibleToPreemptOthers(ctx, e.pod, e.nominatedStatus()); !ok {
		return ineligible(e.pod, p.PluginName, why), nil
	}
	found, err := s.dryRun(ctx, p, e, potential[:min(maxPreemptedNodes, len(potential))])
	if err != nil {
		return nil, err
	}
	found.finish(len(potential), final)
	if p.rules != nil && found.answer.Verdict == diagnosticsv1alpha1.PreemptionHelpless {
		found.answer.Message = cmp.Or(p.rules.Spared(e.pod), found.answer.Message)
	}
	return found.answer, nil
}

// refusing is the answer of a plugin that looks for no victims; nil when the pod is none of its concern.
func refusing(plugin, why string) *diagnosticsv1alpha1.Preemption {
	if why == "" {
		return nil
	}
	return &diagnosticsv1alpha1.Preemption{Verdict: diagnosticsv1alpha1.PreemptionHelpless, Plugin: plugin, Message: why}
}

// eager is the evaluation of the same pod, which may preempt: the policy of a reserve pod is for other plugins.
func (e *evaluation) eager() *evaluation {
	edited := *e
	edited.pod = e.pod.DeepCopy()
	edited.pod.Spec.PreemptionPolicy = nil
	return &edited
}

// declining is the last answer, with the reasons why the plugins before it evict no pods.
func declining(answers []*diagnosticsv1alpha1.Preemption) *diagnosticsv1alpha1.Preemption {
	if len(answers) == 0 {
		return nil
	}
	last := answers[len(answers)-1]
	for _, before := range answers[:len(answers)-1] {
		if before.Message == last.Message {
			continue
		}
		why := before.Message
		if i := slices.IndexFunc(before.Refusals, func(r diagnosticsv1alpha1.PreemptionRefusal) bool { return r.Plugin != "" }); i >= 0 {
			why += fmt.Sprintf("; %s still refuses: %s", before.Refusals[i].Plugin, before.Refusals[i].Reason)
		}
		last.Declined = append(last.Declined, diagnosticsv1alpha1.PreemptionDecline{Plugin: before.Plugin, Message: why})
	}
	return last
}

// preemptible lists the nodes where evictions may lift everything that refuses, and counts the others.
func (e *evaluation) preemptible() (potential []fwk.NodeInfo, final int) {
	for i, refusals := range e.refusals {
		lasting := false
		for _, r := range refusals {
			lasting = lasting || r.final
		}
		if lasting {
			final++
		} else {
			potential = append(potential, e.nodes[i])
		}
	}
	return potential, final
}

// nominatedStatus is the verdict on the node that the pod is nominated to, nil when there is no such node.
func (e *evaluation) nominatedStatus() *fwk.Status {
	for i, info := range e.nodes {
		if info.Node().Name != e.pod.Status.NominatedNodeName || len(e.refusals[i]) == 0 {
			continue
		}
		first := e.refusals[i][0]
		if first.final {
			return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, first.reason)
		}
		return fwk.NewStatus(fwk.Unschedulable, first.reason)
	}
	return nil
}

func ineligible(pod *corev1.Pod, plugin, why string) *diagnosticsv1alpha1.Preemption {
	if policy := pod.Spec.PreemptionPolicy; policy != nil && *policy == corev1.PreemptNever {
		return &diagnosticsv1alpha1.Preemption{
			Verdict: diagnosticsv1alpha1.PreemptionNotAllowed, Plugin: plugin, Message: "the pod's preemptionPolicy is Never",
		}
	}
	return &diagnosticsv1alpha1.Preemption{
		Verdict: diagnosticsv1alpha1.PreemptionWaits, Plugin: plugin, NodeName: pod.Status.NominatedNodeName,
		Message: fmt.Sprintf("pods on node %s are terminating for this pod (%s)", pod.Status.NominatedNodeName, why),
	}
}

// dryRun tries evictions on copies of nodes.
func (s *simulation) dryRun(ctx context.Context, p *preemptor, e *evaluation, nodes []fwk.NodeInfo) (*trialRun, error) {
	run := &trialRun{simulation: s, plugin: p.PluginName, answer: &diagnosticsv1alpha1.Preemption{Plugin: p.PluginName, NodesTried: int32(len(nodes))}}
	if len(nodes) == 0 {
		return run, nil
	}
	var budgets []*policyv1.PodDisruptionBudget
	if p.PdbLister != nil {
		var err error
		if budgets, err = p.PdbLister.List(labels.Everything()); err != nil {
			return nil, fmt.Errorf("list disruption budgets: %w", err)
		}
	}
	candidates, statuses, _ := p.DryRunPreemption(ctx, e.state, e.pod, nodes, budgets, 0, int32(len(nodes)))
	if ctx.Err() != nil {
		return nil, fmt.Errorf("try preemption on %d nodes: %w", len(nodes), context.Cause(ctx))
	}
	// Any other error is one of single nodes, and stands in their statuses.
	run.helped(ctx, p, candidates)
	run.refused(statuses)
	return run, nil
}
