package gangs

import "k8s.io/client-go/tools/cache"

// Handlers are what the State does on events of PodGroups and ClusterNetworkTopologies, and of pods, for those who have them from
// elsewhere than the informers that the State was made with.
func (s *State) Handlers() (objects, pods cache.ResourceEventHandler) {
	return cache.ResourceEventHandlerFuncs{AddFunc: s.objectSet, UpdateFunc: func(_, object any) { s.objectSet(object) }, DeleteFunc: s.objectDeleted},
		cache.ResourceEventHandlerFuncs{AddFunc: s.podAdded, UpdateFunc: s.podUpdated, DeleteFunc: s.podDeleted}
}
