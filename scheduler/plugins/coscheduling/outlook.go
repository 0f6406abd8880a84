package coscheduling

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/jobinsight"
	"koordinator.sh/koord/decision/scheduling/gang"
	"koordinator.sh/koord/scheduler/reason"
)

var _ reason.WholePreemptor = &Plugin{}

// ForesightOf implements reason.WholePreemptor: whom PostFilter would evict for the gang of a member, whichever of its members
// PostFilter is called for.
func (p *Plugin) ForesightOf(ctx context.Context, pod *corev1.Pod) (*diagnosticsv1alpha1.Preemption, error) {
	key, belongs := gang.KeyOf(pod)
	if !belongs {
		return nil, nil
	}
	spec := p.concerns(key)
	if spec == nil {
		return nil, nil
	}
	found, err := p.outlook(ctx, pod, spec)
	if err != nil {
		return nil, err
	}
	answer := &diagnosticsv1alpha1.Preemption{Verdict: found.verdict, Plugin: Name, Message: found.why}
	if found.trial == nil {
		return answer, nil
	}
	if len(found.trial.candidates) > 0 {
		answer.NodesTried = int32(len(found.trial.nodes))
	}
	if found.verdict == diagnosticsv1alpha1.PreemptionEvicts {
		found.publish(answer, pod, spec)
	} else {
		answer.Refusals = found.trial.published()
		answer.Message = found.trial.helpless(spec, found.why)
	}
	return answer, nil
}

// publish writes down a plan.
func (o *outlook) publish(answer *diagnosticsv1alpha1.Preemption, pod *corev1.Pod, spec *gang.Spec) {
	victims := make([]*corev1.Pod, len(o.plan.Victims))
	for i, index := range o.plan.Victims {
		victim := o.trial.pods[index].GetPod()
		victims[i] = victim
		answer.Victims = append(answer.Victims, diagnosticsv1alpha1.PreemptionVictim{
			Namespace: victim.Namespace, Name: victim.Name, Priority: corev1helpers.PodPriority(victim),
		})
	}
	answer.BudgetViolations = int64(o.plan.Budgeted)
	used, placed := map[string]bool{}, 0
	for i, member := range o.trial.members {
		node := o.plan.Nodes[i]
		if node == "" {
			continue
		}
		placed++
		used[node] = true
		if member.pod.UID == pod.UID {
			answer.NodeName = node
		}
	}
	answer.NodesHelped = int32(len(used))
	answer.Message = fmt.Sprintf("%s would evict %s for %s of gangGroup %s at once, on %s", Name,
		counted(len(o.plan.Victims), "pod"), counted(placed, "member"), spec.GroupID, counted(len(used), "node"))
	if answer.BudgetViolations > 0 {
		answer.Message += fmt.Sprintf("; a disruption budget protects %d of the pods", answer.BudgetViolations)
	}
	if loss := jobinsight.LossOf(victims, time.Now()); loss != "" {
		answer.Message += "; " + loss
	}
}

// helpless says why no pod is evicted.
func (t *trial) helpless(spec *gang.Spec, why string) string {
	switch {
	case len(t.candidates) == 0:
		return fmt.Sprintf("no pod that may be evicted has a lower priority than all members of gangGroup %s", spec.GroupID)
	case t.complete():
		return fmt.Sprintf("gangGroup %s fits without evictions", spec.GroupID)
	}
	return why
}

// complete is true when enough members of each gang have a node.
func (t *trial) complete() bool {
	placed := map[gang.Key]int{}
	for _, member := range t.members {
		if member.node != "" {
			placed[member.key]++
		}
	}
	for key, needed := range t.needed {
		if placed[key] < needed {
			return false
		}
	}
	return true
}

// published are the refusals of the first member without a node, when all pods that may be evicted are gone; most nodes first.
func (t *trial) published() []diagnosticsv1alpha1.PreemptionRefusal {
	var list []diagnosticsv1alpha1.PreemptionRefusal
	for of, nodes := range t.refusals {
		list = append(list, diagnosticsv1alpha1.PreemptionRefusal{Plugin: of.plugin, Reason: of.reason, Count: nodes})
	}
	slices.SortFunc(list, func(a, b diagnosticsv1alpha1.PreemptionRefusal) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Plugin, b.Plugin), cmp.Compare(a.Reason, b.Reason))
	})
	return list
}

func counted(count int, what string) string {
	if count == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", count, what)
}
