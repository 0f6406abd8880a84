package quotaadmission

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"koordinator.sh/koord/api/extension"
)

// list reads "cpu=1,memory=2Gi".
func list(text string) corev1.ResourceList {
	if text == "" {
		return nil
	}
	out := corev1.ResourceList{}
	for _, part := range strings.Split(text, ",") {
		name, amount, _ := strings.Cut(part, "=")
		out[corev1.ResourceName(name)] = resource.MustParse(amount)
	}
	return out
}

// quota is one in namespace "ns"; a parent of "" is the root.
func quota(name, parent, least, most string, edits ...func(*Quota)) *Quota {
	if parent == "" {
		parent = extension.RootQuotaName
	}
	q := &Quota{Namespace: "ns", Name: name, Parent: parent, Min: list(least), Max: list(most)}
	for _, edit := range edits {
		edit(q)
	}
	return q
}

func parental(q *Quota) { q.IsParent = true }

func forced(q *Quota) { q.Forced = true }

func inTree(id string) func(*Quota) { return func(q *Quota) { q.TreeID = id } }

func treeRoot(q *Quota) { q.TreeRoot, q.IsParent = true, true }

func bound(namespaces ...string) func(*Quota) { return func(q *Quota) { q.Namespaces = namespaces } }

// indexOf holds quotas.
func indexOf(quotas ...*Quota) *Index {
	x := NewIndex()
	for _, q := range quotas {
		x.Set(q)
	}
	return x
}
