package quotas

import (
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/decision/scheduling/quota"
)

// Judgement of one pod.
type Judgement struct {
	// Quota that the pod belongs to.
	Quota   string
	Verdict quota.Verdict
	// Reason of a refusal, as it stands in events.
	Reason string
	// Admission holds the numbers behind a refusal, nil when the pod passes.
	Admission *quota.Admission
	// Shortages explain a refusal, where that was asked for.
	Shortages []quota.Shortage
}

// judge decides on a pod as if it were pending: one that has a node is supposed to have none. Nothing is changed when it
// returns, and nothing is allocated for a pod that passes and has been observed.
func (b *book) judge(pod *corev1.Pod, rules quota.Rules, explain bool) Judgement {
	b.recompute()
	before := b.pods.get(pod.UID)
	if before != nil && before.pod == pod && !before.held.Assigned {
		return b.decide(before.quota, before.held, rules, explain)
	}
	name, asked := b.quotaOf(pod), heldBy(pod, false)
	asked.Assigned = false
	if before != nil {
		b.forest.Tree(before.quota).Release(before.quota, before.held)
		defer func() { b.forest.Tree(before.quota).Hold(before.quota, before.held) }()
	}
	tree := b.forest.Tree(name)
	tree.Hold(name, asked)
	defer func() { tree.Release(name, asked) }()
	return b.decide(name, asked, rules, explain)
}

func (b *book) decide(name string, asked quota.Holding, rules quota.Rules, explain bool) Judgement {
	tree := b.forest.Tree(name)
	tree.Admission(name, asked, rules, &b.scratch)
	judgement := Judgement{Quota: name, Verdict: b.scratch.Verdict()}
	if judgement.Verdict.Passed() {
		return judgement
	}
	judgement.Admission = b.scratch.Clone()
	judgement.Reason = b.scratch.Reason(judgement.Verdict)
	if explain {
		judgement.Shortages = tree.Shortages(judgement.Admission, judgement.Verdict)
		quota.Attach(judgement.Shortages, b.problems())
	}
	return judgement
}
