package gangs

import (
	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	"k8s.io/client-go/tools/cache"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/gang"
)

// apply makes a change under the lock, and then notifies the subscribers of what follows from it.
func (s *State) apply(change func() ([]*corev1.Pod, gang.Key)) {
	s.mutex.Lock()
	wake, key := change()
	told := Change{Wake: wake, Complete: s.book.Stalled(key)}
	s.mutex.Unlock()
	if len(told.Wake) == 0 && len(told.Complete) == 0 {
		return
	}
	s.subscribers.RLock()
	defer s.subscribers.RUnlock()
	for _, subscriber := range s.subscribers.list {
		subscriber(told)
	}
}

func (s *State) podAdded(object any) {
	if pod, ok := object.(*corev1.Pod); ok {
		if key, belongs := gang.KeyOf(pod); belongs {
			s.apply(func() ([]*corev1.Pod, gang.Key) { return s.book.Observe(pod), key })
		}
	}
}

func (s *State) podUpdated(before, after any) {
	old, ok := before.(*corev1.Pod)
	pod, okay := after.(*corev1.Pod)
	if !ok || !okay {
		return
	}
	left, belonged := gang.KeyOf(old)
	key, belongs := gang.KeyOf(pod)
	switch {
	case old.UID != pod.UID:
		s.podDeleted(old)
		s.podAdded(pod)
	case belonged && left != key:
		s.apply(func() ([]*corev1.Pod, gang.Key) { return s.book.Observe(pod), left })
	case belongs:
		s.apply(func() ([]*corev1.Pod, gang.Key) { return s.book.Observe(pod), key })
	}
}

func (s *State) podDeleted(object any) {
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	if pod, ok := object.(*corev1.Pod); ok {
		if key, belongs := gang.KeyOf(pod); belongs {
			s.apply(func() ([]*corev1.Pod, gang.Key) { return s.book.Forget(pod.UID), key })
		}
	}
}

func (s *State) objectSet(object any) {
	s.apply(func() ([]*corev1.Pod, gang.Key) {
		switch group := object.(type) {
		case *schedulingsigsv1alpha1.PodGroup:
			spec := gang.FromGroup(group, s.book.Defaults())
			s.groups[spec.Key] = group
			return s.book.SetGroup(spec), spec.Key
		case *schedulingv1alpha2.PodGroup:
			spec := gang.FromNativeGroup(group, s.book.Defaults())
			return s.book.SetGroup(spec), spec.Key
		case *schedulingv1alpha1.ClusterNetworkTopology:
			if group.Name == schedulingv1alpha1.ClusterNetworkTopologyName {
				s.network = group
				return s.book.RefusedForNetwork(), gang.Key{}
			}
		}
		return nil, gang.Key{}
	})
}

func (s *State) objectDeleted(object any) {
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	s.apply(func() ([]*corev1.Pod, gang.Key) {
		switch group := object.(type) {
		case *schedulingsigsv1alpha1.PodGroup:
			key := gang.Key{Namespace: group.Namespace, Name: group.Name}
			delete(s.groups, key)
			return s.book.RemoveGroup(key, gang.FromPodGroup), key
		case *schedulingv1alpha2.PodGroup:
			key := gang.Key{Namespace: group.Namespace, Name: group.Name}
			return s.book.RemoveGroup(key, gang.FromNative), key
		case *schedulingv1alpha1.ClusterNetworkTopology:
			if group.Name == schedulingv1alpha1.ClusterNetworkTopologyName {
				s.network = nil
				return s.book.RefusedForNetwork(), gang.Key{}
			}
		}
		return nil, gang.Key{}
	})
}
