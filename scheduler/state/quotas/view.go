package quotas

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/quota"
)

// View is one picture of all quotas: the live one of a State, or a copy of it in which something else is supposed. It is
// safe for concurrent use.
type View struct {
	mutex sync.Mutex
	book  *book
}

// Held is what a pod holds of its quota.
type Held struct {
	Quota string
	// Ancestors are the quotas above, nearest first.
	Ancestors []string
	Holding   quota.Holding
}

// Judge decides whether a pod fits into its quota.
func (v *View) Judge(pod *corev1.Pod, rules quota.Rules) Judgement {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	return v.book.judge(pod, rules, false)
}

// Explain is Judge with what is behind a refusal.
func (v *View) Explain(pod *corev1.Pod, rules quota.Rules) Judgement {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	return v.book.judge(pod, rules, true)
}

// QuotaOf names the quota that a pod belongs to.
func (v *View) QuotaOf(pod *corev1.Pod) string {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.book.recompute()
	return v.book.quotaOf(pod)
}

// Held returns what a pod that counts holds.
func (v *View) Held(uid types.UID) (Held, bool) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.book.recompute()
	pod := v.book.pods.get(uid)
	if pod == nil {
		return Held{}, false
	}
	return Held{Quota: pod.quota, Ancestors: v.book.forest.Tree(pod.quota).Ancestors(pod.quota), Holding: pod.held}, true
}

// Sharing says how a resource was divided among the children of a quota, nil when there is no such thing. The children of
// the root of a tree other than the default one are found under the tree's ID.
func (v *View) Sharing(treeID, parent string, resource corev1.ResourceName) *quota.Sharing {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.book.recompute()
	tree := v.book.forest.ByID(treeID)
	if tree == nil {
		return nil
	}
	return tree.Explain(parent, resource)
}

// Problems of the quotas, as far as they are known to be wrong.
func (v *View) Problems() []quota.Problem {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.book.recompute()
	return v.book.problems()
}

// Leaves are the names of the quotas without children that ElasticQuotas made, in order.
func (v *View) Leaves() []string {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.book.recompute()
	return v.book.leaves()
}

// Spec of a quota, nil when there is none of that name. It must not be changed.
func (v *View) Spec(name string) *quota.Spec {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.book.recompute()
	if tree := v.book.forest.Tree(name); tree != nil {
		return tree.Spec(name)
	}
	return nil
}

// Object is the ElasticQuota behind a quota, nil when there is none. It must not be changed.
func (v *View) Object(name string) *schedulingsigsv1alpha1.ElasticQuota {
	spec := v.Spec(name)
	if spec == nil {
		return nil
	}
	v.mutex.Lock()
	defer v.mutex.Unlock()
	return v.book.entries[types.NamespacedName{Namespace: spec.Namespace, Name: name}].object
}

// Fork returns an independent copy, to suppose things in.
func (v *View) Fork() *View {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	return &View{book: v.book.fork()}
}

// Suppose puts an ElasticQuota in the place of the one with its name. Only a fork should suppose.
func (v *View) Suppose(object *schedulingsigsv1alpha1.ElasticQuota) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.book.recompute()
	if spec, problems := quota.Decode(object); v.book.forest.Adjust(&spec) { // which it only does for the quota in force
		key := types.NamespacedName{Namespace: object.Namespace, Name: object.Name}
		v.book.own()
		v.book.entries[key] = entry{object: object, spec: &spec, problems: problems}
		return
	}
	v.book.setQuota(object)
}

// SupposePod puts a pod in the place of the one with its UID: what a pending pod requests counts, too. Only a fork should suppose.
func (v *View) SupposePod(pod *corev1.Pod) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.book.recompute()
	v.book.observe(pod)
}

// SupposePlaced counts a pod as assigned. Only a fork should suppose.
func (v *View) SupposePlaced(pod *corev1.Pod) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.book.recompute()
	v.book.reserve(pod)
}

// SupposeGone takes a pod off its node. It stops to ask for anything, too. Only a fork should suppose.
func (v *View) SupposeGone(uid types.UID) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.book.recompute()
	v.book.remove(uid)
}

// Freed returns nil: nothing changes unless it is supposed.
func (v *View) Freed() <-chan struct{} { return nil }

// Idle is true when no pod can be refused: there are no quotas but the built-in ones.
func (v *View) Idle() bool {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	return v.book.idle()
}

// WaitForSync returns at once: everything is known.
func (v *View) WaitForSync(context.Context) error { return nil }

// Configure does nothing: the State is configured.
func (v *View) Configure(*quota.Args) error { return nil }

// PodChanged does nothing, like the next two: events are for the State.
func (v *View) PodChanged(*corev1.Pod) {}

// NodeChanged does nothing.
func (v *View) NodeChanged(string) {}

// QuotaChanged does nothing.
func (v *View) QuotaChanged(types.NamespacedName) {}

// Reserve does nothing: only the State counts pods.
func (v *View) Reserve(*corev1.Pod) {}

// Unreserve does nothing.
func (v *View) Unreserve(*corev1.Pod) {}
