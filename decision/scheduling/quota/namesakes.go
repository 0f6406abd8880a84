package quota

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

// Namesakes are ElasticQuotas, in any order, for questions about those of one name. Their objects are not modified.
type Namesakes []*schedulingsigsv1alpha1.ElasticQuota

// Parent is true when one of them is a parent.
func (n Namesakes) Parent() bool {
	return slices.ContainsFunc(n, func(q *schedulingsigsv1alpha1.ElasticQuota) bool { return extension.IsQuotaParent(q) })
}

// Counting is the one that the scheduler goes by: the oldest, nil when there is none.
func (n Namesakes) Counting() *Spec {
	if oldest := n.oldest(); oldest != nil {
		spec, _ := Decode(oldest) // what cannot be read counts as absent
		return &spec
	}
	return nil
}

// Tree is that of the one that counts; "" is the default tree.
func (n Namesakes) Tree() string {
	if oldest := n.oldest(); oldest != nil {
		return oldest.Labels[extension.LabelQuotaTreeID]
	}
	return ""
}

// TreeOf is the tree that a pod names, or that of the one that counts; "" is the default tree. The quotas are those of the name that the
// pod asks for.
func (n Namesakes) TreeOf(pod *corev1.Pod) string {
	if tree := pod.Labels[extension.LabelQuotaTreeID]; tree != "" {
		return tree
	}
	return n.Tree()
}

// Specs of all of them. What cannot be read counts as absent.
func (n Namesakes) Specs() []*Spec {
	specs := make([]*Spec, len(n))
	for i, q := range n {
		spec, _ := Decode(q)
		specs[i] = &spec
	}
	return specs
}

func (n Namesakes) oldest() *schedulingsigsv1alpha1.ElasticQuota {
	if len(n) == 0 {
		return nil
	}
	return slices.MinFunc(n, func(a, b *schedulingsigsv1alpha1.ElasticQuota) int {
		return cmp.Or(cmp.Compare(a.CreationTimestamp.Unix(), b.CreationTimestamp.Unix()), cmp.Compare(a.Namespace, b.Namespace))
	})
}
