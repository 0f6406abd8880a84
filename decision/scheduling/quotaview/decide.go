package quotaview

import (
	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/scheduling/quota"
)

// Explain says where the runtime of a quota comes from, who uses it and which pods do not fit. It arranges and divides as
// koord-scheduler does.
func Explain(in Input) *diagnosticsv1alpha1.QuotaExplanation {
	out := &diagnosticsv1alpha1.QuotaExplanation{ObjectMeta: metaOf(in.Quota), QuotaFacts: factsOf(in.Quota)}
	if in.Unseen {
		return out
	}
	e := newExplanation(in)
	out.Findings = e.findings()
	if e.tree == nil {
		return out
	}
	for _, resource := range Resources(in.Quota) {
		if division := e.division(resource); division != nil {
			out.Divisions = append(out.Divisions, *division)
		}
	}
	out.Pods, out.PodsOmitted = e.usedBy()
	out.Refused, out.RefusedOmitted = e.refused()
	return out
}

// explanation is one call of Explain.
type explanation struct {
	Input
	args      *quota.Args
	forest    *quota.Forest
	belonging quota.Belonging
	// tree of the quota; nil where an older quota has its name.
	tree *quota.Tree
	// members are the quota and those below it.
	members map[string]bool
}

func newExplanation(in Input) *explanation {
	e := &explanation{Input: in, members: map[string]bool{}}
	e.args, e.forest, e.belonging = arrange(&in)
	e.tree = e.treeOf(in.Quota)
	if e.tree == nil {
		return e
	}
	for spec := range e.tree.Quotas {
		if spec.Name == in.Quota.Name || in.Quota.Name == extension.RootQuotaName {
			e.members[spec.Name] = true
		}
		for _, above := range e.tree.Ancestors(spec.Name) {
			e.members[spec.Name] = e.members[spec.Name] || above == in.Quota.Name
		}
	}
	return e
}

// arrange arranges the quotas and counts the pods, as koord-scheduler does.
func arrange(in *Input) (*quota.Args, *quota.Forest, quota.Belonging) {
	args := in.Args
	if args == nil {
		args = &quota.Args{}
		quota.SetDefaults(args)
	}
	specs := make([]*quota.Spec, len(in.Objects))
	for i := range in.Objects {
		spec, _ := quota.Decode(&in.Objects[i])
		specs[i] = &spec
	}
	forest, belonging := quota.BuildForest(args.Options(), specs), quota.BelongingTo(specs)
	forest.HoldPods(belonging, in.Pods)
	forest.SetTotal(totalOf(in.Nodes))
	return args, forest, belonging
}

// treeOf is the tree of a quota; nil where another one has its name.
func (e *explanation) treeOf(q *Quota) *quota.Tree {
	if q.Name == extension.RootQuotaName {
		return e.forest.ByID("")
	}
	tree := e.forest.Tree(q.Name)
	if tree == nil || tree.Spec(q.Name).Namespace != q.Namespace {
		return nil
	}
	return tree
}

func totalOf(nodes []corev1.Node) quota.Amounts {
	var total quota.Amounts
	for i := range nodes {
		total = total.Plus(quota.AmountsOf(nodes[i].Status.Allocatable))
	}
	return total
}

// findings are the problems of the quota's place and limits, and what a review finds wrong with it.
func (e *explanation) findings() []diagnosticsv1alpha1.Finding {
	var out []diagnosticsv1alpha1.Finding
	about := func(namespace, name string) bool { return namespace == e.Quota.Namespace && name == e.Quota.Name }
	for _, problems := range [][]quota.Problem{e.forest.Problems, e.forest.Overclaims()} {
		for i := range problems {
			if p := &problems[i]; about(p.Namespace, p.Quota) {
				out = append(out, diagnosticsv1alpha1.Finding{
					Code: string(p.Code), Severity: diagnosticsv1alpha1.SeverityWarning, Message: p.Message,
					Object: &diagnosticsv1alpha1.SourceRef{Kind: "ElasticQuota", Namespace: p.Namespace, Name: p.Quota},
				})
			}
		}
	}
	for _, found := range quota.Review(e.Objects, quota.Pods(e.Pods)) {
		if about(found.Object.Namespace, found.Object.Name) {
			out = append(out, found)
		}
	}
	return out
}
