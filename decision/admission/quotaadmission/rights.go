package quotaadmission

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

// Right is what somebody must be allowed, as authorization of Kubernetes puts it.
type Right struct {
	Verb      string `json:"verb"`
	Group     string `json:"group"`
	Resource  string `json:"resource"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
}

// String reads as kubectl auth can-i takes it.
func (r Right) String() string {
	text := r.Verb + " " + r.Resource + "." + r.Group
	if r.Name != "" {
		text = r.Verb + " " + r.Resource + "." + r.Group + "/" + r.Name
	}
	if r.Namespace != "" {
		text += " in namespace " + r.Namespace
	}
	return text
}

// UseOf is the right to use a quota: to have pods in it that its namespaces do not, and quotas below it.
func UseOf(namespace, name string) Right {
	return Right{Verb: "use", Group: schedulingsigsv1alpha1.GroupVersion.Group, Resource: "elasticquotas", Namespace: namespace, Name: name}
}

// shapeTrees is the right to say what trees have. There are no objects of this resource.
var shapeTrees = Right{Verb: "update", Group: "scheduling.koordinator.sh", Resource: "quotatrees"}

// belongTo is the right to say what quota the pods of a namespace belong to. Who may write quotas there can do so anyway, by one with
// the name of the namespace.
func belongTo(namespace string) Right {
	return Right{Verb: "update", Group: schedulingsigsv1alpha1.GroupVersion.Group, Resource: "elasticquotas", Namespace: namespace}
}

// need is a right that a request needs, and for what.
type need struct {
	right        Right
	field, reach string
}

// Rights are the permissions that the requester needs beyond the write itself, because the quota affects what belongs to others.
// What the quota affected before needs no permission.
func Rights(in Input) []Right {
	var rights []Right
	for _, need := range needs(&in) {
		rights = append(rights, need.right)
	}
	return rights
}

func needs(in *Input) []need {
	if !in.Options.Protect || in.Quota == nil {
		return nil
	}
	q, old := in.Quota, in.Old
	if q.builtIn() {
		if old == nil || !q.SameRequest(old) {
			return []need{{shapeTrees, fieldName, "quota " + q.Name + " is the system quota"}}
		}
		return nil
	}
	var out []need
	for _, namespace := range q.Namespaces {
		if namespace != q.Namespace && (old == nil || !slices.Contains(old.Namespaces, namespace)) {
			out = append(out, need{belongTo(namespace), fieldNamespaces, fmt.Sprintf("the pods of namespace %s would belong to the quota", namespace)})
		}
	}
	return append(append(out, placeNeeds(in)...), shapeNeeds(q, old)...)
}

// placeNeeds: who puts a quota below that of others, or into their tree, shares what they have.
func placeNeeds(in *Input) []need {
	q, old := in.Quota, in.Old
	switch arrived := old == nil || old.Parent != q.Parent || old.TreeID != q.TreeID; {
	case !arrived || q.rootsTree() && q.belowRoot():
		return nil
	case !q.belowRoot():
		if parent := in.Quotas.Get(q.Parent); parent != nil && parent.Namespace != q.Namespace {
			return []need{{UseOf(parent.Namespace, parent.Name), fieldParent, "the parent " + parent.Name + " is in namespace " + parent.Namespace}}
		}
		return nil
	case q.TreeID == "":
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(in.Quotas.roots)) {
		if root := in.Quotas.roots[name]; root.TreeID == q.TreeID {
			if root.Namespace == q.Namespace {
				return nil
			}
			return []need{{UseOf(root.Namespace, root.Name), fieldTreeID, fmt.Sprintf("tree %q belongs to quota %s in namespace %s", q.TreeID, root.Name, root.Namespace)}}
		}
	}
	return []need{{shapeTrees, fieldTreeID, fmt.Sprintf("tree %q has no root yet", q.TreeID)}}
}

// shapeNeeds: what a tree has is taken off the default tree, and force takes it off the other children of a parent.
func shapeNeeds(q, old *Quota) []need {
	if old == nil {
		old = &Quota{}
	}
	more := slices.ContainsFunc(keys(q.Min), func(name corev1.ResourceName) bool { return grown(q.Min, old.Min, name) })
	sameRoot := old.rootsTree() && old.TreeID == q.TreeID && old.IgnoreDefaultTree == q.IgnoreDefaultTree && sameList(old.Total, q.Total) && !more
	switch {
	case q.rootsTree() && !sameRoot:
		return []need{{shapeTrees, "labels." + extension.LabelQuotaIsRoot, fmt.Sprintf("the quota sets the total of tree %q", q.TreeID)}}
	case q.Forced && (!old.Forced || more):
		return []need{{shapeTrees, "labels." + extension.LabelQuotaAllowForceUpdate, "the sums of mins are not checked"}}
	case q.TreeRoot && !q.rootsTree() && (!old.TreeRoot || more):
		return []need{{shapeTrees, "labels." + extension.LabelQuotaIsRoot, "the sums of mins are not checked"}}
	}
	return nil
}

// rights refuses what needs a right that is not held.
func (v *validation) rights() {
	for _, need := range needs(&v.Input) {
		if !v.Held[need.right] {
			v.refuse(finding.QuotaRightLacking, need.field, "Forbidden: %s, which requires permission to %s", need.reach, need.right)
		}
	}
}
