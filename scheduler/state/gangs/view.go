package gangs

import (
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/gang"
)

// View is one picture of all gangs: the live one of a State, or a copy of it in which something else is supposed. It is safe
// for concurrent use.
type View struct {
	mutex sync.RWMutex
	book  *gang.Book
	// groups are the PodGroups as they are, to propose others in their place.
	groups map[gang.Key]*schedulingsigsv1alpha1.PodGroup
	now    func() time.Time
	// network is how the nodes are connected, nil when nothing says.
	network *schedulingv1alpha1.ClusterNetworkTopology
	// victims are the pods that are being evicted for gang groups, by the group's name.
	victims map[string][]types.UID
}

// Topology of the network, nil when nothing describes it. It must not be changed.
func (v *View) Topology() *schedulingv1alpha1.ClusterNetworkTopology {
	v.mutex.RLock()
	defer v.mutex.RUnlock()
	return v.network
}

// Ready says whether the members of a gang exist.
func (v *View) Ready(key gang.Key) gang.Verdict {
	v.mutex.RLock()
	defer v.mutex.RUnlock()
	return v.book.Ready(key)
}

// Admit says whether a member may be tried now.
func (v *View) Admit(key gang.Key, uid types.UID) gang.Verdict {
	v.mutex.RLock()
	defer v.mutex.RUnlock()
	return v.book.Admit(key, uid, v.now())
}

// Report says where a gang and its group stand.
func (v *View) Report(key gang.Key) gang.Report {
	v.mutex.RLock()
	defer v.mutex.RUnlock()
	return v.book.Report(key, v.now())
}

// Seen is when a gang was first seen; false for one that is not known.
func (v *View) Seen(key gang.Key) (time.Time, bool) {
	v.mutex.RLock()
	defer v.mutex.RUnlock()
	if known := v.book.Gang(key); known != nil {
		return known.Seen, true
	}
	return time.Time{}, false
}

// Spec of a gang, nil when nothing says what its rules are. It must not be changed.
func (v *View) Spec(key gang.Key) *gang.Spec {
	v.mutex.RLock()
	defer v.mutex.RUnlock()
	if known := v.book.Gang(key); known != nil {
		return known.Spec
	}
	return nil
}

// Counts of a gang's members.
func (v *View) Counts(key gang.Key) gang.Counts {
	v.mutex.RLock()
	defer v.mutex.RUnlock()
	if known := v.book.Gang(key); known != nil {
		return known.Counts()
	}
	return gang.Counts{}
}

// Members of a gang, in no order.
func (v *View) Members(key gang.Key) []gang.Member {
	v.mutex.RLock()
	defer v.mutex.RUnlock()
	known := v.book.Gang(key)
	if known == nil {
		return nil
	}
	members := make([]gang.Member, 0, len(known.Members))
	for _, member := range known.Members {
		members = append(members, *member)
	}
	return members
}

// Object is the PodGroup that describes a gang, nil when another thing does. It must not be changed.
func (v *View) Object(key gang.Key) *schedulingsigsv1alpha1.PodGroup {
	v.mutex.RLock()
	defer v.mutex.RUnlock()
	return v.groups[key]
}

// Together is true for a Strict gang that has not run.
func (v *View) Together(key gang.Key) bool {
	v.mutex.RLock()
	defer v.mutex.RUnlock()
	return v.book.Together(key)
}

// Victims are the pods that are being evicted for a gang group. They must not be changed.
func (v *View) Victims(group string) []types.UID {
	v.mutex.RLock()
	defer v.mutex.RUnlock()
	return v.victims[group]
}

// Fork returns an independent copy, to suppose things in.
func (v *View) Fork() *View {
	v.mutex.RLock()
	defer v.mutex.RUnlock()
	groups := make(map[gang.Key]*schedulingsigsv1alpha1.PodGroup, len(v.groups))
	for key, group := range v.groups {
		groups[key] = group
	}
	return &View{book: v.book.Fork(), groups: groups, now: v.now, network: v.network, victims: maps.Clone(v.victims)}
}

// Suppose puts a PodGroup in the place of the one with its name. Only a fork should suppose.
func (v *View) Suppose(group *schedulingsigsv1alpha1.PodGroup) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.groups[gang.Key{Namespace: group.Namespace, Name: group.Name}] = group
	v.book.SetGroup(gang.FromGroup(group, v.book.Defaults()))
}

// SupposePod puts a pod in the place of the one with its UID. Only a fork should suppose.
func (v *View) SupposePod(pod *corev1.Pod) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.book.Observe(pod)
}

// SupposeUntried forgets that members of a gang and of its group found no node. Only a fork should suppose.
func (v *View) SupposeUntried(key gang.Key) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.book.ForgetRefusals(key)
}

// SupposeGone takes a pod away. Only a fork should suppose.
func (v *View) SupposeGone(uid types.UID) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.book.Forget(uid)
}

// The rest is for a State. A View that is asked for it does nothing: explanations place no pods.

// Configure does nothing.
func (v *View) Configure(gang.Defaults) error { return nil }

// Subscribe does nothing.
func (v *View) Subscribe(func(Change)) {}

// Permit never lets a pod pass.
func (v *View) Permit(gang.Key, *corev1.Pod, string) gang.Permission {
	return gang.Permission{Wait: time.Hour}
}

// AllowWaiting allows no members.
func (v *View) AllowWaiting(gang.Key, func(types.UID) bool) ([]types.UID, bool) { return nil, true }

// Evict evicts no members.
func (v *View) Evict(string, []types.UID) {}

// Fail rejects no members.
func (v *View) Fail(gang.Key, *corev1.Pod, string) gang.Rejection { return gang.Rejection{} }

// Unplace rejects no members.
func (v *View) Unplace(gang.Key, *corev1.Pod) gang.Rejection { return gang.Rejection{} }

// Release releases no members.
func (v *View) Release(types.UID) (released bool, again *corev1.Pod) { return false, nil }

// Bound does nothing.
func (v *View) Bound(types.UID) {}
