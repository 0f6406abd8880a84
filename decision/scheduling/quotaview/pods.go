package quotaview

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/scheduling/quota"
)

// counted is a pod that counts in the quota or below it.
type counted struct {
	pod     *corev1.Pod
	quota   string
	holding quota.Holding
	// size is the largest part that it requests of what all pods of the quota request.
	size float64
}

// counting are the pods with a node, or those without one, the largest first.
func (e *explanation) counting(assigned bool) []counted {
	var out []counted
	status := e.tree.Root()
	if e.Quota.Name != extension.RootQuotaName {
		status, _ = e.tree.Status(e.Quota.Name)
	}
	for i := range e.Pods {
		pod := &e.Pods[i]
		if !podrequest.Consumes(pod) || (pod.Spec.NodeName != "") != assigned {
			continue
		}
		name := e.forest.QuotaOf(e.belonging, pod)
		if !e.members[name] {
			continue
		}
		row := counted{pod: pod, quota: name, holding: quota.HoldingOf(pod)}
		for _, request := range row.holding.Request {
			if whole, ok := status.ChildRequest.Get(request.Resource); ok && whole > 0 {
				row.size = max(row.size, float64(request.Value)/float64(whole))
			}
		}
		out = append(out, row)
	}
	slices.SortFunc(out, func(a, b counted) int {
		return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.pod.Namespace, b.pod.Namespace), cmp.Compare(a.pod.Name, b.pod.Name))
	})
	return out
}

// usedBy are the largest pods with a node.
func (e *explanation) usedBy() ([]diagnosticsv1alpha1.QuotaPod, int32) {
	var out []diagnosticsv1alpha1.QuotaPod
	all := e.counting(true)
	for i := range all[:min(e.Limit, len(all))] {
		out = append(out, e.row(&all[i]))
	}
	return out, int32(len(all) - len(out))
}

// row is a pod with what it requests of what the quota counts.
func (e *explanation) row(c *counted) diagnosticsv1alpha1.QuotaPod {
	out := diagnosticsv1alpha1.QuotaPod{Namespace: c.pod.Namespace, Name: c.pod.Name, NodeName: c.pod.Spec.NodeName, NonPreemptible: c.holding.NonPreemptible}
	if c.quota != e.Quota.Name {
		out.Quota = c.quota
	}
	for _, resource := range Resources(e.Quota) {
		if request, ok := c.holding.Request.Get(resource); ok {
			out.Requests = append(out.Requests, diagnosticsv1alpha1.ForecastAmount{Resource: string(resource), Amount: request, Unit: amount.UnitOf(resource)})
		}
	}
	return out
}

// refused are the largest pods without a node that do not fit into their quota, or one above it where that is checked.
func (e *explanation) refused() ([]diagnosticsv1alpha1.QuotaRefusal, int32) {
	var out []diagnosticsv1alpha1.QuotaRefusal
	omitted := int32(0)
	var admission quota.Admission
	for _, c := range e.counting(false) {
		e.tree.Admission(c.quota, c.holding, e.args.Rules(), &admission)
		verdict := admission.Verdict()
		switch {
		case verdict.Passed():
		case len(out) == e.Limit:
			omitted++
		default:
			shortages := e.tree.Shortages(&admission, verdict)
			quota.Attach(shortages, e.forest.Problems)
			out = append(out, diagnosticsv1alpha1.QuotaRefusal{QuotaPod: e.row(&c), Code: string(verdict.Code), Message: quota.Message(shortages)})
		}
	}
	return out, omitted
}
