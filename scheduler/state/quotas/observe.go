package quotas

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/quota"
)

// The handlers of events, and the scheduler's hints, which may see an event first, do the same: they take over the object
// as the informer has it now, under the lock. That makes them independent of the order in which an event reaches its handlers,
// and nothing older can overwrite what is newer.

// QuotaChanged takes over the present state of an ElasticQuota.
func (s *State) QuotaChanged(key types.NamespacedName) { s.readQuota(key) }

// NodeChanged takes over the present state of a node.
func (s *State) NodeChanged(name string) { s.readNode(name) }

// PodChanged takes over the present state of a pod.
func (s *State) PodChanged(pod *corev1.Pod) { s.readPod(pod) }

func (s *State) quotaChanged(object any) {
	if name, err := cache.DeletionHandlingObjectToName(object); err == nil {
		s.readQuota(types.NamespacedName(name))
	}
}

func (s *State) nodeChanged(object any) {
	if name, err := cache.DeletionHandlingObjectToName(object); err == nil {
		s.readNode(name.Name)
	}
}

func (s *State) podChanged(object any) {
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	if pod, ok := object.(*corev1.Pod); ok {
		s.readPod(pod)
	}
}

func (s *State) readQuota(key types.NamespacedName) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	object, found, err := s.quotas.GetIndexer().GetByKey(key.String())
	if err != nil {
		return
	}
	changed := false
	if typed, ok := object.(*schedulingsigsv1alpha1.ElasticQuota); found && ok {
		changed = s.book.setQuota(typed)
	} else {
		changed = s.book.removeQuota(key)
	}
	if changed {
		s.assess()
	}
}

func (s *State) readNode(name string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	object, found, err := s.nodes.GetIndexer().GetByKey(name)
	if err != nil {
		return
	}
	var has quota.Amounts
	if node, ok := object.(*corev1.Node); found && ok {
		if has = quota.AmountsOf(node.Status.Allocatable); has == nil {
			has = quota.Amounts{}
		}
	}
	s.book.setNode(name, has)
}

// readPod looks the pod up by its name. Another pod may have the name by now; the one that was asked about is then gone.
func (s *State) readPod(pod *corev1.Pod) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	object, found, err := s.pods.GetIndexer().GetByKey(pod.Namespace + "/" + pod.Name)
	if err != nil {
		return
	}
	present, ok := object.(*corev1.Pod)
	if !found || !ok || present.UID != pod.UID {
		released := s.book.pods.get(pod.UID)
		s.book.remove(pod.UID)
		if released != nil && !released.held.Assigned {
			s.freed.give()
		}
	}
	if found && ok {
		s.book.observe(present)
	}
}

// Freed returns a channel that is closed when a pending pod has gone: what its quota no longer asks for may be lent to
// others, and the scheduler has no event for that.
func (s *State) Freed() <-chan struct{} { return s.freed.wait() }

// notice wakes everyone who waits, once. The zero value is ready for use.
type notice struct {
	mutex   sync.Mutex
	channel chan struct{}
}

func (n *notice) wait() <-chan struct{} {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if n.channel == nil {
		n.channel = make(chan struct{})
	}
	return n.channel
}

func (n *notice) give() {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if n.channel != nil {
		close(n.channel)
		n.channel = nil
	}
}
