package quotas

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/quotaview"
)

// Snapshot is all ElasticQuotas, pods and nodes as the informers have them, with the arguments of the first profile. What it refers
// to must not be changed. Pods that are assumed to be bound are not: they count once their binding is read.
func (s *State) Snapshot() quotaview.Input {
	return quotaview.Input{
		Objects: stored[schedulingsigsv1alpha1.ElasticQuota](s.quotas), Pods: stored[corev1.Pod](s.pods), Nodes: stored[corev1.Node](s.nodes), Args: s.first.Load(),
	}
}

// stored are the objects of an informer.
func stored[T any](informer cache.SharedIndexInformer) []T {
	objects := informer.GetStore().List()
	all := make([]T, 0, len(objects))
	for _, object := range objects {
		if typed, ok := object.(*T); ok {
			all = append(all, *typed)
		}
	}
	return all
}
