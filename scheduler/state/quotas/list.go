package quotas

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"

	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/core/jobinsight"
	"koordinator.sh/koord/decision/scheduling/quota"
)

// Quota is one quota with its numbers.
type Quota struct {
	Spec   *quota.Spec
	Status quota.Status
	// Tree is the ID of the quota's tree, empty for the default one.
	Tree string
}

// Quotas calls yield for every quota, trees in order of their IDs and parents before children, until it returns false. The
// lock is not held during yield, so that a quota can be gone or changed by then.
func (v *View) Quotas(yield func(Quota) bool) {
	for _, id := range v.TreeIDs() {
		for _, spec := range v.specs(id) {
			if status, found := v.status(spec.Name); found && !yield(Quota{Spec: spec, Status: status, Tree: id}) {
				return
			}
		}
	}
}

func (v *View) specs(treeID string) []*quota.Spec {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.book.recompute()
	if tree := v.book.forest.ByID(treeID); tree != nil {
		return slices.Collect(tree.Quotas)
	}
	return nil
}

func (v *View) status(name string) (quota.Status, bool) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.book.recompute()
	tree := v.book.forest.Tree(name)
	if tree == nil {
		return quota.Status{}, false
	}
	return tree.Status(name)
}

// Pods of a quota itself, not of those below it.
func (v *View) Pods(name string) []PodHolding {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.book.recompute()
	var list []PodHolding
	for pod := range v.book.pods.all {
		if pod.quota == name {
			list = append(list, PodHolding{Pod: pod.pod, Holding: pod.held})
		}
	}
	return list
}

// Exists reports whether there is an ElasticQuota, also one that does not count.
func (v *View) Exists(namespace, name string) bool {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	_, known := v.book.entries[types.NamespacedName{Namespace: namespace, Name: name}]
	return known
}

// At returns an ElasticQuota, also one that does not count; nil when there is none. It must not be changed.
func (v *View) At(namespace, name string) *schedulingsigsv1alpha1.ElasticQuota {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	return v.book.entries[types.NamespacedName{Namespace: namespace, Name: name}].object
}

// Root is the status of the quota above all of a tree, by the ID of the tree; false when there is no such tree.
func (v *View) Root(treeID string) (quota.Status, bool) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.book.recompute()
	tree := v.book.forest.ByID(treeID)
	if tree == nil {
		return quota.Status{}, false
	}
	return tree.Root(), true
}

// TreeIDs of all trees in order; that of the default tree is empty.
func (v *View) TreeIDs() []string {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.book.recompute()
	return v.book.forest.TreeIDs()
}

// Counts reports whether a pod is counted anywhere.
func (v *View) Counts(pod types.UID) bool {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	return v.book.pods.get(pod) != nil
}

// PodHolding is a pod with what it holds.
type PodHolding struct {
	Pod     *corev1.Pod
	Holding quota.Holding
}

// Candidate describes the pod to decisions on who gives way at a time.
func (h PodHolding) Candidate(now time.Time) quota.Candidate {
	started := h.Pod.CreationTimestamp.Time
	if h.Pod.Status.StartTime != nil {
		started = h.Pod.Status.StartTime.Time
	}
	return quota.Candidate{
		Name: h.Pod.Namespace + "/" + h.Pod.Name, Priority: corev1helpers.PodPriority(h.Pod), Started: started.UnixNano(), Holding: h.Holding,
		Done: jobinsight.ProgressOf(h.Pod).Quarter(now),
	}
}

// leaves are the names of the quotas without children that objects made, in order.
func (b *book) leaves() []string {
	var names []string
	for _, entry := range b.entries {
		if tree := b.forest.Tree(entry.spec.Name); tree != nil && !entry.spec.IsParent && tree.Spec(entry.spec.Name) == entry.spec {
			names = append(names, entry.spec.Name)
		}
	}
	slices.Sort(names)
	return names
}

// problems of single quotas, then of how they are arranged.
func (b *book) problems() []quota.Problem {
	var list []quota.Problem
	for _, name := range slices.SortedFunc(maps.Keys(b.entries), compareKeys) {
		list = append(list, b.entries[name].problems...)
	}
	return append(append(list, b.forest.Problems...), b.forest.Overclaims()...)
}
