package elasticquota

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/scheduling/quota"
	"koordinator.sh/koord/scheduler/services"
	"koordinator.sh/koord/scheduler/state/quotas"
)

var _ services.Provider = &Plugin{}

// figures is what the endpoints read. The states of a scheduler and of explanations have it.
type figures interface {
	Quotas(yield func(quotas.Quota) bool)
	Pods(name string) []quotas.PodHolding
	Problems() []quota.Problem
	TreeIDs() []string
	Root(treeID string) (quota.Status, bool)
}

// quotaSummary is one quota with its numbers, in upstream's fields.
type quotaSummary struct {
	Name               string              `json:"name"`
	ParentName         string              `json:"parentName"`
	Tree               string              `json:"tree,omitempty"`
	IsParent           bool                `json:"isParent"`
	AllowLentResource  bool                `json:"allowLentResource"`
	Max                corev1.ResourceList `json:"max"`
	Min                corev1.ResourceList `json:"min"`
	Used               corev1.ResourceList `json:"used"`
	NonPreemptibleUsed corev1.ResourceList `json:"nonPreemptibleUsed"`
	Request            corev1.ResourceList `json:"request"`
	SharedWeight       corev1.ResourceList `json:"sharedWeight"`
	Runtime            corev1.ResourceList `json:"runtime"`
	ChildRequest       corev1.ResourceList `json:"childRequest"`
	// Total of the tree, for the quota above all.
	Total corev1.ResourceList `json:"total,omitempty"`
	// PodCache are the pods of the quota itself, by NAMESPACE/NAME, where they were asked for.
	PodCache map[string]podSummary `json:"podCache,omitempty"`
	Problems []quota.Problem       `json:"problems,omitempty"`
}

type podSummary struct {
	IsAssigned bool                `json:"isAssigned"`
	Resource   corev1.ResourceList `json:"resource"`
}

// Endpoints implements services.Provider. A quota is served under both of the paths that upstream has had for it.
func (p *Plugin) Endpoints() []services.Endpoint {
	known, ok := p.state.(figures)
	if !ok {
		return nil
	}
	one := func(_ context.Context, call services.Call) (any, error) {
		name := call.Parameter("name")
		summary, found := summaries(known, name, true)[name]
		if !found {
			return nil, services.NotFound("cannot find quota %s", name)
		}
		return summary, nil
	}
	return []services.Endpoint{
		{Path: "quotas", Answer: func(_ context.Context, call services.Call) (any, error) {
			all := summaries(known, "", call.Query.Get("includePods") == "true")
			if tree := call.Query.Get("tree"); tree != "" {
				for name, summary := range all {
					if summary.Tree != tree {
						delete(all, name)
					}
				}
			}
			return all, nil
		}},
		{Path: "quotas/{name}", Answer: one},
		{Path: "quota/{name}", Answer: one},
		{Path: "trees", Answer: func(context.Context, services.Call) (any, error) {
			trees := map[string]quotaSummary{}
			for _, id := range known.TreeIDs() {
				trees[id] = rootOf(known, id)
			}
			return trees, nil
		}},
	}
}

// summaries of all quotas, or of the one with a name, by name.
func summaries(known figures, only string, pods bool) map[string]quotaSummary {
	problems := map[string][]quota.Problem{}
	for _, problem := range known.Problems() {
		problems[problem.Quota] = append(problems[problem.Quota], problem)
	}
	all := map[string]quotaSummary{}
	if only == "" || only == extension.RootQuotaName {
		all[extension.RootQuotaName] = rootOf(known, "")
	}
	known.Quotas(func(one quotas.Quota) bool {
		if only != "" && one.Spec.Name != only {
			return true
		}
		summary := summaryOf(one)
		summary.Problems = problems[one.Spec.Name]
		if pods {
			summary.PodCache = podsOf(known, one.Spec.Name)
		}
		all[one.Spec.Name] = summary
		return only == ""
	})
	return all
}

func summaryOf(one quotas.Quota) quotaSummary {
	spec, status := one.Spec, one.Status
	summary := numbers(status)
	summary.Name, summary.ParentName, summary.Tree = spec.Name, spec.Parent, one.Tree
	summary.IsParent, summary.AllowLentResource = spec.IsParent, spec.Lends
	summary.Max, summary.Min, summary.SharedWeight = spec.Max.List(), spec.Min.List(), spec.Weight.List()
	if summary.ParentName == "" {
		summary.ParentName = extension.RootQuotaName
	}
	return summary
}

func numbers(status quota.Status) quotaSummary {
	return quotaSummary{
		Used: status.Used.List(), NonPreemptibleUsed: status.NonPreemptibleUsed.List(), Request: status.Request.List(),
		Runtime: status.Runtime.List(), ChildRequest: status.ChildRequest.List(),
	}
}

// rootOf is the summary above all quotas of a tree.
func rootOf(known figures, tree string) quotaSummary {
	status, _ := known.Root(tree)
	summary := numbers(status)
	summary.Name, summary.Tree, summary.IsParent, summary.Total = extension.RootQuotaName, tree, true, status.Total.List()
	return summary
}

func podsOf(known figures, name string) map[string]podSummary {
	pods := map[string]podSummary{}
	for _, pod := range known.Pods(name) {
		pods[pod.Pod.Namespace+"/"+pod.Pod.Name] = podSummary{IsAssigned: pod.Holding.Assigned, Resource: pod.Holding.Request.List()}
	}
	return pods
}
