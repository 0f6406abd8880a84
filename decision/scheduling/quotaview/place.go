package quotaview

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/scheduling/quota"
)

// Placer says which quotas pods would count against that do not exist yet. It must not be used by two goroutines at a time.
type Placer struct {
	args      *quota.Args
	forest    *quota.Forest
	belonging quota.Belonging
	unseen    bool
}

// NewPlacer arranges quotas and counts pods as koord-scheduler does. Quota and Limit of the input do not matter.
func NewPlacer(in Input) *Placer {
	p := &Placer{unseen: in.Unseen}
	p.args, p.forest, p.belonging = arrange(&in)
	return p
}

// Place says which quota a pod that is created now would count against, by what, and whether it fits.
func (p *Placer) Place(pod *corev1.Pod) *diagnosticsv1alpha1.AdmissionQuota {
	name, rule := p.belonging.Rule(pod, func(name string) bool { return p.forest.Tree(name) != nil })
	out := &diagnosticsv1alpha1.AdmissionQuota{Name: name, Rule: string(rule), Fit: diagnosticsv1alpha1.QuotaFitUnknown}
	if rule == quota.ByDefaultForMissing {
		out.Asked = p.belonging.Name(pod)
	}
	tree := p.forest.Tree(name)
	if tree == nil {
		return out
	}
	out.Namespace, out.Tree = tree.Spec(name).Namespace, p.treeID(tree)
	if p.unseen {
		return out
	}
	holding := quota.HoldingOf(pod)
	for _, request := range holding.Request {
		if row, counts := p.amount(tree, name, request); counts {
			out.Amounts = append(out.Amounts, row)
		}
	}
	p.fit(tree, name, holding, out)
	return out
}

func (p *Placer) treeID(tree *quota.Tree) string {
	for _, id := range p.forest.TreeIDs() {
		if p.forest.ByID(id) == tree {
			return id
		}
	}
	return ""
}

// amount is false for a resource that is not requested, or that nothing limits.
func (p *Placer) amount(tree *quota.Tree, name string, request quota.Amount) (diagnosticsv1alpha1.AdmissionQuotaAmount, bool) {
	row := diagnosticsv1alpha1.AdmissionQuotaAmount{Resource: string(request.Resource), Unit: amount.UnitOf(request.Resource), Request: request.Value}
	room, bound := tree.Headroom(name, request.Resource, p.args.Rules())
	row.Available, row.Bound = room, bound
	return row, request.Value > 0 && room < quota.Boundless
}

// fit supposes that the pod exists, and takes it away again.
func (p *Placer) fit(tree *quota.Tree, name string, holding quota.Holding, out *diagnosticsv1alpha1.AdmissionQuota) {
	tree.Hold(name, holding)
	defer tree.Release(name, holding)
	var admission quota.Admission
	tree.Admission(name, holding, p.args.Rules(), &admission)
	verdict := admission.Verdict()
	if verdict.Passed() {
		out.Fit = diagnosticsv1alpha1.QuotaFits
		return
	}
	shortages := tree.Shortages(&admission, verdict)
	quota.Attach(shortages, p.forest.Problems)
	out.Fit, out.Code, out.Message = diagnosticsv1alpha1.QuotaExceeded, string(verdict.Code), quota.Message(shortages)
	if out.Asked != "" {
		out.Message = quota.MessageUnknown(out.Asked, shortages)
	}
}

// Because says by what a pod belongs to its quota, for people.
func Because(pod *corev1.Pod, q *diagnosticsv1alpha1.AdmissionQuota) string {
	switch quota.Rule(q.Rule) {
	case quota.ByLabel:
		return "label " + extension.LabelQuotaName + " of the pod names it"
	case quota.ByNamespaceName:
		return fmt.Sprintf("it has the name of its namespace %s", pod.Namespace)
	case quota.ByNamespaceList:
		return fmt.Sprintf("its annotation lists namespace %s", pod.Namespace)
	case quota.ByDefaultForMissing:
		return fmt.Sprintf("quota %q does not exist", q.Asked)
	}
	return "neither the pod nor its namespace has a quota"
}
