package quotaview

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/scheduling/quota"
)

// division says how a resource of the parent was divided; nil for a quota that takes no part in it.
func (e *explanation) division(resource corev1.ResourceName) *diagnosticsv1alpha1.QuotaDivision {
	name := e.Quota.Name
	if extension.IsBuiltInQuota(name) {
		return nil
	}
	path := append(e.tree.Ancestors(name), extension.RootQuotaName)
	shared := e.tree.Explain(path[0], resource)
	status, _ := e.tree.Status(name)
	runtime, counted := status.Runtime.Get(resource)
	if shared == nil || !counted {
		return nil
	}
	out := &diagnosticsv1alpha1.QuotaDivision{
		Resource: string(resource), Unit: amount.UnitOf(resource), Parent: shared.Parent, Path: e.path(path, resource),
		Total: shared.Total, LeftOver: shared.LeftOver, Unshared: shared.Unshared, Runtime: runtime,
		Shares: sharesOf(shared), Rounds: roundsOf(shared), Loans: loansOf(shared, name),
	}
	if limit, limited := e.tree.Spec(name).Max.Get(resource); limited {
		out.Max = &limit
	}
	out.Used, _ = status.Used.Get(resource)
	out.Available, out.AvailableBound = e.tree.Headroom(name, resource, e.args.Rules())
	out.Return = e.back(resource)
	return out
}

// path are the runtimes of the quotas above, from the top.
func (e *explanation) path(names []string, resource corev1.ResourceName) []diagnosticsv1alpha1.QuotaLevel {
	var out []diagnosticsv1alpha1.QuotaLevel
	for _, name := range slices.Backward(names) {
		status := e.tree.Root()
		if name != extension.RootQuotaName {
			status, _ = e.tree.Status(name)
		}
		runtime, _ := status.Runtime.Get(resource)
		out = append(out, diagnosticsv1alpha1.QuotaLevel{Quota: name, Runtime: runtime})
	}
	return out
}

func sharesOf(shared *quota.Sharing) []diagnosticsv1alpha1.QuotaShare {
	out := make([]diagnosticsv1alpha1.QuotaShare, len(shared.Children))
	for i := range shared.Children {
		c := &shared.Children[i]
		out[i] = diagnosticsv1alpha1.QuotaShare{
			Quota: c.Quota, Min: c.Min, Guaranteed: c.Floor, Capped: c.Capped, Weight: c.Weight, Request: c.Request, Lent: c.Lent(), Borrowed: c.Borrowed(), Runtime: c.Runtime,
		}
	}
	slices.SortFunc(out, func(a, b diagnosticsv1alpha1.QuotaShare) int { return cmp.Compare(a.Quota, b.Quota) })
	return out
}

func roundsOf(shared *quota.Sharing) []diagnosticsv1alpha1.QuotaRound {
	var out []diagnosticsv1alpha1.QuotaRound
	for _, round := range shared.Rounds {
		row := diagnosticsv1alpha1.QuotaRound{LeftOver: round.LeftOver}
		for _, gain := range round.Gains {
			row.Gains = append(row.Gains, diagnosticsv1alpha1.QuotaGain(gain))
		}
		out = append(out, row)
	}
	return out
}

// loansOf a quota, those between the same two over all rounds in one.
func loansOf(shared *quota.Sharing, name string) []diagnosticsv1alpha1.QuotaLoan {
	var out []diagnosticsv1alpha1.QuotaLoan
	for _, loan := range shared.Loans {
		if loan.From != name && loan.To != name {
			continue
		}
		same := func(other diagnosticsv1alpha1.QuotaLoan) bool { return other.From == loan.From && other.To == loan.To }
		if at := slices.IndexFunc(out, same); at >= 0 {
			out[at].Amount += loan.Amount
			continue
		}
		out = append(out, diagnosticsv1alpha1.QuotaLoan{From: loan.From, To: loan.To, Amount: loan.Amount})
	}
	return out
}

// back says who would use more than their runtime if the quota requested all of its min; nil for none.
func (e *explanation) back(resource corev1.ResourceName) *diagnosticsv1alpha1.QuotaReturn {
	gain, debtors := e.tree.Reclaim(e.Quota.Name, resource)
	if len(debtors) == 0 {
		return nil
	}
	out := &diagnosticsv1alpha1.QuotaReturn{Amount: gain, Revokes: *e.args.MonitorAllQuotas}
	if out.Revokes {
		out.AfterSeconds = int64(e.args.DelayEvictTime.Seconds())
	}
	for _, d := range debtors {
		out.Holders = append(out.Holders, diagnosticsv1alpha1.QuotaHolder{Quota: d.Quota, Used: d.Used, Runtime: d.Runtime, Excess: d.Excess(), NonPreemptible: d.NonPreemptible})
	}
	return out
}
