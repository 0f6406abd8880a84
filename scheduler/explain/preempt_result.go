package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	"k8s.io/kubernetes/pkg/scheduler/util"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/jobinsight"
	decision "koordinator.sh/koord/decision/scheduling/reservation"
)

// trialRun is the result of a dry run of one plugin's preemption.
type trialRun struct {
	*simulation
	plugin string
	answer *diagnosticsv1alpha1.Preemption
	// loss says what the victims would lose; empty where nothing was predicted of them.
	loss string
}

// helped chooses among the nodes on which evictions help, as the plugin does. Among equals, of which the scheduler takes
// any, it is the first by name.
func (t *trialRun) helped(ctx context.Context, p *preemptor, candidates []preemption.Candidate) {
	t.answer.NodesHelped = int32(len(candidates))
	best := p.SelectCandidate(ctx, candidates)
	if best == nil {
		return
	}
	for _, other := range candidates {
		if weigh(other) == weigh(best) && other.Name() < best.Name() {
			best = other
		}
	}
	t.answer.NodeName, t.answer.BudgetViolations = best.Name(), best.Victims().NumPDBViolations
	t.loss = jobinsight.LossOf(best.Victims().Pods, t.now())
	for _, victim := range best.Victims().Pods {
		t.answer.Victims = append(t.answer.Victims, diagnosticsv1alpha1.PreemptionVictim{
			ReservationName: decision.NameOf(victim),
			Namespace:       victim.Namespace, Name: victim.Name, Priority: corev1helpers.PodPriority(victim),
		})
	}
}

// weight is all that the scheduler compares of two sets of victims.
type weight struct {
	violations, sum int64
	highest         int32
	count           int
	started         int64
}

func weigh(candidate preemption.Candidate) weight {
	victims := candidate.Victims()
	w := weight{violations: victims.NumPDBViolations, count: len(victims.Pods)}
	for i, victim := range victims.Pods {
		if i == 0 {
			w.highest = corev1helpers.PodPriority(victim)
		}
		w.sum += int64(corev1helpers.PodPriority(victim))
	}
	if started := util.GetEarliestPodStartTime(victims); started != nil {
		w.started = started.UnixNano()
	}
	return w
}

// refused counts the nodes on which evictions do not help, by reason.
func (t *trialRun) refused(statuses *framework.NodeToStatus) {
	counts := map[refusal]int32{}
	statuses.ForEachExplicitNode(func(_ string, status *fwk.Status) {
		for _, reason := range status.Reasons() {
			counts[refusal{plugin: status.Plugin(), reason: reason}]++
		}
	})
	for r := range counts {
		published := diagnosticsv1alpha1.PreemptionRefusal{Plugin: r.plugin, Reason: r.reason, Count: counts[r]}
		if r.plugin != "" {
			published.Code = string(t.codeOf(r))
		}
		t.answer.Refusals = append(t.answer.Refusals, published)
	}
}

// finish adds the nodes that were not tried, and words the answer.
func (t *trialRun) finish(potential, final int) {
	a := t.answer
	if left := potential - int(a.NodesTried); left > 0 {
		a.Refusals = append(a.Refusals, diagnosticsv1alpha1.PreemptionRefusal{Reason: "not tried, to limit the time this takes", Count: int32(left)})
	}
	if final > 0 {
		a.Refusals = append(a.Refusals, diagnosticsv1alpha1.PreemptionRefusal{Reason: "Preemption is not helpful for scheduling", Count: int32(final)})
	}
	slices.SortFunc(a.Refusals, func(a, b diagnosticsv1alpha1.PreemptionRefusal) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Plugin, b.Plugin), cmp.Compare(a.Reason, b.Reason))
	})
	if len(a.Victims) > 0 {
		a.Verdict, a.Message = diagnosticsv1alpha1.PreemptionEvicts, t.evictsMessage()
		return
	}
	a.Verdict = diagnosticsv1alpha1.PreemptionHelpless
	switch {
	case potential == 0:
		a.Message = "preemption is not helpful for scheduling"
	default:
		a.Message = fmt.Sprintf("evicting pods with lower priority does not help on any of the %d nodes tried", a.NodesTried)
	}
}

func (t *trialRun) evictsMessage() string {
	a, pods := t.answer, "1 pod"
	if len(a.Victims) > 1 {
		pods = fmt.Sprintf("%d pods", len(a.Victims))
	}
	message := fmt.Sprintf("%s would evict %s from node %s", a.Plugin, pods, a.NodeName)
	if a.BudgetViolations > 0 {
		message += fmt.Sprintf(", of which a disruption budget protects %d", a.BudgetViolations)
	}
	if t.loss != "" {
		message += "; " + t.loss
	}
	return message
}
