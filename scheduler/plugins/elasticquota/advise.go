package elasticquota

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	fwk "k8s.io/kube-scheduler/framework"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/core/kubectl"
	"koordinator.sh/koord/decision/scheduling/quota"
	"koordinator.sh/koord/scheduler/reason"
	"koordinator.sh/koord/scheduler/state/quotas"
)

var _ reason.Adviser = &Plugin{}

// Costs of changes, in the order of reason.Change, and bounds on how many of a kind are proposed.
const (
	costPreemptible = 1.0
	costRelabel     = 2.0
	costLeave       = 40.0
	costRaiseMax    = 10.0
	costRaiseMin    = 12.0
	costGuarantee   = 14.0

	maxRelabels    = 2
	maxQuotasTried = 200
)

// Advise proposes to raise what bounds the quota, to name another quota that has room or none, to make the pod preemptible, and at
// last to evict one pod of the quota.
func (p *Plugin) Advise(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, node fwk.NodeInfo, reasons []string) []reason.Change {
	if !slices.ContainsFunc(reasons, quota.IsReason) {
		return nil
	}
	judgement := p.state.Explain(pod, p.rules)
	if judgement.Verdict.Passed() || len(judgement.Shortages) == 0 {
		return nil
	}
	changes := slices.DeleteFunc(p.raises(judgement.Verdict.Code, judgement.Shortages), p.refusedByAdmission)
	if judgement.Verdict.Code == finding.QuotaNonPreemptibleExceeded {
		changes = append(changes, preemptible(pod))
	}
	changes = append(changes, p.relabels(pod)...)
	changes = append(changes, p.leave(pod)...)
	changes = append(changes, p.evictions(judgement)...)
	for i := range changes {
		changes[i].Fix.Node = node.Node().Name
	}
	return changes
}

// refusedByAdmission is true for a change of a quota that koord-manager would not let pass, such as a min beyond that of its parent.
func (p *Plugin) refusedByAdmission(change reason.Change) bool {
	object, ok := change.Object.(*schedulingsigsv1alpha1.ElasticQuota)
	if !ok {
		return false
	}
	verdict := p.state.Admitted(object)
	return verdict.Refused()
}

// raises proposes larger numbers: the max that refuses, the max above that bounds the share, or the min that is guaranteed.
func (p *Plugin) raises(code finding.Code, shortages []quota.Shortage) []reason.Change {
	var changes []reason.Change
	first := &shortages[0]
	if code == finding.QuotaMaxExceeded || code == finding.QuotaParentExceeded && first.Limit == first.Max {
		changes = append(changes, p.raise(first.Quota, "max", costRaiseMax, shortages, func(s *quota.Shortage) int64 { return s.Used + s.Asked })...)
	} else {
		changes = append(changes, p.raise(first.Quota, "min", costRaiseMin, shortages, func(s *quota.Shortage) int64 { return s.Used + s.Asked })...)
	}
	if code != finding.QuotaNonPreemptibleExceeded {
		changes = append(changes, p.guarantee(first.Quota, shortages)...)
	}
	if first.Bound != first.Quota && first.Bound != extension.RootQuotaName {
		changes = append(changes, p.raise(first.Bound, "max", costRaiseMax, shortages, func(s *quota.Shortage) int64 {
			if s.Bound != first.Bound {
				return 0
			}
			return s.BoundAmount + s.Missing()
		})...)
	}
	return changes
}

// guarantee raises min, and max where that is lower, to what is used and asked for: what a quota gets beyond its min is shared with
// others, so that a larger max of its parent may give it only a part of what is missing.
func (p *Plugin) guarantee(name string, shortages []quota.Shortage) []reason.Change {
	object := p.state.Object(name)
	if object == nil || object.Spec.Max == nil {
		return nil
	}
	edited, text := object.DeepCopy(), ""
	if edited.Spec.Min == nil {
		edited.Spec.Min = corev1.ResourceList{}
	}
	patched := map[string]corev1.ResourceList{}
	for i := range shortages {
		key, amount := shortages[i].Resource, shortages[i].Used+shortages[i].Asked
		after := quota.Quantity(key, amount)
		for field, list := range map[string]corev1.ResourceList{"max": edited.Spec.Max, "min": edited.Spec.Min} {
			before, bounded := list[key]
			if field == "max" && !bounded || before.Cmp(after) >= 0 {
				continue
			}
			list[key] = after
			if patched[field] == nil {
				patched[field] = corev1.ResourceList{}
			}
			patched[field][key] = after
		}
		text += fmt.Sprintf(" %s to %s", key, after.String())
	}
	if len(patched["min"]) == 0 {
		return nil
	}
	return []reason.Change{{Cost: costGuarantee, Object: edited, Fix: diagnosticsv1alpha1.Fix{
		Target: diagnosticsv1alpha1.FixCluster, Kind: "guaranteeQuota",
		Description: fmt.Sprintf("raise min, and max where it is lower, of quota %s:%s", name, text),
		Steps:       []diagnosticsv1alpha1.FixStep{kubectl.Merge(kubectl.ElasticQuota(object.Namespace, name), map[string]any{"spec": patched})},
	}}}
}

// raise edits max or min of a quota to what value says of each shortage.
func (p *Plugin) raise(name, field string, cost float64, shortages []quota.Shortage, value func(*quota.Shortage) int64) []reason.Change {
	object := p.state.Object(name)
	if object == nil {
		return nil
	}
	edited := object.DeepCopy()
	list := edited.Spec.Max
	if field == "min" {
		list = edited.Spec.Min
	}
	patch, text := corev1.ResourceList{}, ""
	for i := range shortages {
		key, amount := shortages[i].Resource, value(&shortages[i])
		if before := list[key]; list != nil && amount > 0 {
			after := quota.Quantity(key, amount)
			list[key], patch[key] = after, after
			text += fmt.Sprintf(" %s from %s to %s", key, before.String(), after.String())
		}
	}
	if len(patch) == 0 {
		return nil
	}
	return []reason.Change{{Cost: cost, Object: edited, Fix: diagnosticsv1alpha1.Fix{
		Target: diagnosticsv1alpha1.FixCluster, Kind: "raiseQuota",
		Description: fmt.Sprintf("raise %s of quota %s:%s", field, name, text),
		Steps: []diagnosticsv1alpha1.FixStep{kubectl.Merge(kubectl.ElasticQuota(object.Namespace, name),
			map[string]any{"spec": map[string]any{field: patch}})},
	}}}
}

func preemptible(pod *corev1.Pod) reason.Change {
	edited := pod.DeepCopy()
	delete(edited.Labels, extension.LabelQuotaPreemptible)
	return reason.Change{Cost: costPreemptible, Pod: edited, Fix: diagnosticsv1alpha1.Fix{
		Target: diagnosticsv1alpha1.FixPod, Kind: "makePreemptible",
		Description: "let the pod be preempted: remove the label " + extension.LabelQuotaPreemptible,
		Steps:       []diagnosticsv1alpha1.FixStep{kubectl.Label(kubectl.Pod(pod.Namespace, pod.Name), map[string]*string{extension.LabelQuotaPreemptible: kubectl.Remove})},
	}}
}

// relabels proposes other quotas that admit the pod, of those that its namespace may use.
func (p *Plugin) relabels(pod *corev1.Pod) []reason.Change {
	own, tried := p.state.QuotaOf(pod), 0
	var changes []reason.Change
	for _, name := range p.state.Leaves() {
		if name == own || len(changes) == maxRelabels {
			continue
		}
		if spec := p.state.Spec(name); spec == nil || !spec.Serves(pod.Namespace) {
			continue
		}
		if tried++; tried > maxQuotasTried {
			break
		}
		edited := pod.DeepCopy()
		if edited.Labels == nil {
			edited.Labels = map[string]string{}
		}
		edited.Labels[extension.LabelQuotaName] = name
		if !p.state.Judge(edited, p.rules).Verdict.Passed() {
			continue
		}
		changes = append(changes, reason.Change{Cost: costRelabel, Pod: edited, Fix: diagnosticsv1alpha1.Fix{
			Target: diagnosticsv1alpha1.FixPod, Kind: "changeQuota",
			Description: fmt.Sprintf("put the pod into quota %s instead of %s", name, own),
			Mentions:    []diagnosticsv1alpha1.SourceRef{p.mention(name), p.mention(own)},
			Steps:       []diagnosticsv1alpha1.FixStep{kubectl.Label(kubectl.Pod(pod.Namespace, pod.Name), map[string]*string{extension.LabelQuotaName: kubectl.Value(name)})},
		}})
	}
	return changes
}

// leave proposes that the pod names no quota, when the one of its namespace or the default one admits it.
func (p *Plugin) leave(pod *corev1.Pod) []reason.Change {
	if _, named := pod.Labels[extension.LabelQuotaName]; !named {
		return nil
	}
	edited := pod.DeepCopy()
	delete(edited.Labels, extension.LabelQuotaName)
	own, other := p.state.QuotaOf(pod), p.state.QuotaOf(edited)
	if own == other || !p.state.Judge(edited, p.rules).Verdict.Passed() {
		return nil
	}
	return []reason.Change{{Cost: costLeave, Pod: edited, Fix: diagnosticsv1alpha1.Fix{
		Target: diagnosticsv1alpha1.FixPod, Kind: "leaveQuota",
		Description: fmt.Sprintf("take the pod out of quota %s, so that it counts for quota %s", own, other),
		Mentions:    []diagnosticsv1alpha1.SourceRef{p.mention(own), p.mention(other)},
		Steps:       []diagnosticsv1alpha1.FixStep{kubectl.Label(kubectl.Pod(pod.Namespace, pod.Name), map[string]*string{extension.LabelQuotaName: kubectl.Remove})},
	}}}
}

// evictions proposes the least important pod of the quota whose eviction alone makes room.
func (p *Plugin) evictions(judgement quotas.Judgement) []reason.Change {
	var victim *corev1.Pod
	for _, pod := range p.state.Pods(judgement.Quota) {
		if !pod.Holding.Assigned {
			continue
		}
		without := judgement.Admission.Clone()
		without.Remove(judgement.Quota, without.Quotas, pod.Holding)
		if without.Verdict().Passed() && (victim == nil || lessImportant(pod.Pod, victim)) {
			victim = pod.Pod
		}
	}
	if victim == nil {
		return nil
	}
	return []reason.Change{{Cost: reason.CostEvict, Evict: []*corev1.Pod{victim}, Fix: diagnosticsv1alpha1.Fix{
		Target: diagnosticsv1alpha1.FixCluster, Kind: "evictPod",
		Description: fmt.Sprintf("evict pod %s/%s, which uses quota %s", victim.Namespace, victim.Name, judgement.Quota),
		Mentions:    []diagnosticsv1alpha1.SourceRef{p.mention(judgement.Quota)},
		Steps:       []diagnosticsv1alpha1.FixStep{reason.Eviction(victim)},
	}}}
}

func lessImportant(a, b *corev1.Pod) bool {
	return cmp.Or(cmp.Compare(corev1helpers.PodPriority(a), corev1helpers.PodPriority(b)), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name)) < 0
}
