package gangs

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/gang"
	"koordinator.sh/koord/scheduler/informer"
)

// Kind of the PodGroups watched.
var Kind = informer.Kind{
	Resource: schedulingsigsv1alpha1.GroupVersion.WithResource("podgroups"),
	Object:   &schedulingsigsv1alpha1.PodGroup{},
	Register: schedulingsigsv1alpha1.AddToScheme,
	Absent:   "only pods with annotations form gangs",
}

// NativeKind of the PodGroups of Kubernetes itself.
var NativeKind = informer.Kind{
	Resource: schedulingv1alpha2.SchemeGroupVersion.WithResource("podgroups"),
	Object:   &schedulingv1alpha2.PodGroup{},
	Register: schedulingv1alpha2.AddToScheme,
	Absent:   "native PodGroups form no gangs",
}

// NetworkKind of the ClusterNetworkTopology.
var NetworkKind = informer.Kind{
	Resource: schedulingv1alpha1.GroupVersion.WithResource("clusternetworktopologies"),
	Object:   &schedulingv1alpha1.ClusterNetworkTopology{},
	Register: schedulingv1alpha1.AddToScheme,
	Absent:   "gangs cannot ask for layers of the network",
}

// State is the live picture of all gangs. It is safe for concurrent use.
type State struct {
	View
	podGroups *informer.Informer
	// others are watched beside PodGroups: native ones, and the network.
	others      []*informer.Informer
	pods        cache.SharedIndexInformer
	configured  bool
	subscribers struct {
		sync.RWMutex
		list []func(Change)
	}
}

// Change is what an event means for members that are not being tried.
type Change struct {
	// Wake are pending members that may be tried and might not before.
	Wake []*corev1.Pod
	// Complete are gangs whose members wait although their group is complete.
	Complete []gang.Key
}

// New creates the state of a scheduler from the cluster that config reaches. Pods come from the scheduler's own informer.
// PodGroups are watched from Run on.
func New(config *rest.Config, pods cache.SharedIndexInformer) (*State, error) {
	podGroups, err := informer.New(config, Kind)
	if err != nil {
		return nil, err
	}
	var others []*informer.Informer
	for _, kind := range []informer.Kind{NativeKind, NetworkKind} {
		other, err := informer.New(config, kind)
		if err != nil {
			return nil, err
		}
		others = append(others, other)
	}
	return newState(podGroups, others, pods, time.Now)
}

// NewFrom is New for PodGroups from another source, without native ones and without a network, and with another clock.
func NewFrom(source cache.ListerWatcher, pods cache.SharedIndexInformer, now func() time.Time) (*State, error) {
	podGroups, err := informer.NewFrom(source, Kind)
	if err != nil {
		return nil, err
	}
	return newState(podGroups, nil, pods, now)
}

// WatchNetwork adds a source of ClusterNetworkTopologies to a state made by NewFrom, before Run.
func (s *State) WatchNetwork(source cache.ListerWatcher) error {
	network, err := informer.NewFrom(source, NetworkKind)
	if err != nil {
		return err
	}
	s.others = append(s.others, network)
	return s.watch(network)
}

func newState(podGroups *informer.Informer, others []*informer.Informer, pods cache.SharedIndexInformer, now func() time.Time) (*State, error) {
	args := &gang.Args{}
	gang.SetDefaults(args)
	s := &State{podGroups: podGroups, others: others, pods: pods, View: View{
		book: gang.NewBook(args.Defaults()), groups: map[gang.Key]*schedulingsigsv1alpha1.PodGroup{}, now: now, victims: map[string][]types.UID{},
	}}
	if _, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: s.podAdded, UpdateFunc: s.podUpdated, DeleteFunc: s.podDeleted}); err != nil {
		return nil, fmt.Errorf("watch pods: %w", err)
	}
	for _, source := range append([]*informer.Informer{podGroups}, others...) {
		if err := s.watch(source); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *State) watch(source *informer.Informer) error {
	_, err := source.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: s.objectSet, UpdateFunc: func(_, object any) { s.objectSet(object) }, DeleteFunc: s.objectDeleted,
	})
	if err != nil {
		return fmt.Errorf("watch what gangs depend on: %w", err)
	}
	return nil
}

// Run watches PodGroups until the context ends. A cluster that does not serve them is one without.
func (s *State) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	for _, other := range s.others {
		running.Go(func() { other.RunWithContext(ctx) })
	}
	s.podGroups.RunWithContext(ctx)
}

// Informer of PodGroups.
func (s *State) Informer() *informer.Informer { return s.podGroups }

// Configure sets what gangs get that do not say. All profiles of a scheduler must agree; another one that asks for
// something else is an error.
func (s *State) Configure(defaults gang.Defaults) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.configured && s.book.Defaults() != defaults {
		return fmt.Errorf("configure %s: all profiles must agree on defaultTimeout and defaultMatchPolicy", gang.Kind)
	}
	s.configured = true
	s.book.SetDefaults(defaults)
	return nil
}

// Subscribe has a function called after each event that opens or completes a gang. It must not block for long.
func (s *State) Subscribe(subscriber func(Change)) {
	s.subscribers.Lock()
	defer s.subscribers.Unlock()
	s.subscribers.list = append(s.subscribers.list, subscriber)
}

// Permit decides on a member that found a node.
func (s *State) Permit(key gang.Key, pod *corev1.Pod, node string) gang.Permission {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	wake := s.ensure(pod)
	permission := s.book.Permit(key, pod.UID, node)
	permission.Try = append(permission.Try, wake...)
	return permission
}

// ensure takes over a pod that reached the scheduler before it reached the state. It reads the informer's store, which is
// ahead of all handlers, so that a pod that is gone does not come back. It returns the pods that may be tried because of it.
func (s *State) ensure(pod *corev1.Pod) []*corev1.Pod {
	if s.book.Member(pod.UID) != nil {
		return nil
	}
	object, found, err := s.pods.GetIndexer().GetByKey(pod.Namespace + "/" + pod.Name)
	if known, ok := object.(*corev1.Pod); ok && found && err == nil && known.UID == pod.UID {
		return s.book.Observe(known)
	}
	return nil
}

// AllowWaiting allows the waiting members of a complete group, provided that found is true for each of them. It returns those
// allowed, and false when one of them was not found.
func (s *State) AllowWaiting(key gang.Key, found func(types.UID) bool) ([]types.UID, bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if !s.book.Complete(key) {
		return nil, true
	}
	waiting := s.book.Waiting(key)
	for _, uid := range waiting {
		if !found(uid) {
			return nil, false
		}
	}
	s.book.Allow(waiting)
	return waiting, true
}

// Fail notes that a member found no node.
func (s *State) Fail(key gang.Key, pod *corev1.Pod, reason string) gang.Rejection {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	wake := s.ensure(pod)
	rejection := s.book.Fail(key, pod.UID, reason, s.now())
	rejection.Try = append(rejection.Try, wake...)
	return rejection
}

// Unplace notes that a member lost the node it had found.
func (s *State) Unplace(key gang.Key, pod *corev1.Pod) gang.Rejection {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.book.Unplace(key, pod, s.now())
}

// Release marks a waiting member as one that gives its node back; false when it does not wait. The member is to be tried again
// when that is returned.
func (s *State) Release(uid types.UID) (released bool, again *corev1.Pod) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.book.Release(uid)
}

// Evict notes which pods are being evicted for a gang group, in the place of those noted before; none ends it. Groups of which no
// gang is left are forgotten.
func (s *State) Evict(group string, victims []types.UID) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	present := map[string]bool{}
	for _, known := range s.book.Gangs() {
		if known.Spec != nil {
			present[known.Spec.GroupID] = true
		}
	}
	maps.DeleteFunc(s.victims, func(noted string, _ []types.UID) bool { return !present[noted] })
	if len(victims) == 0 {
		delete(s.victims, group)
		return
	}
	s.victims[group] = victims
}

// Bound notes that a member was bound, before the informer says so.
func (s *State) Bound(uid types.UID) {
	s.apply(func() ([]*corev1.Pod, gang.Key) {
		key, _ := s.book.KeyOf(uid)
		return s.book.Bound(uid), key
	})
}
