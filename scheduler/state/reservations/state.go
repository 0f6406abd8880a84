package reservations

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	decision "koordinator.sh/koord/decision/scheduling/reservation"
	"koordinator.sh/koord/scheduler/informer"
)

// Resource of Reservations.
var Resource = schedulingv1alpha1.GroupVersion.WithResource("reservations")

// kind is what the informer watches.
var kind = informer.Kind{
	Resource: Resource, Object: &schedulingv1alpha1.Reservation{}, Register: schedulingv1alpha1.AddToScheme,
	Absent: "no room is reserved for pods",
}

// View is a reservation that holds room, as it is at one moment. Neither it nor what it points to may be changed.
type View struct {
	decision.Candidate
	// Held is the reserve pod in the scheduler's cache, or the operating-mode pod itself; nil when nothing is held.
	Held *corev1.Pod
	// Object is nil for an operating-mode pod.
	Object *schedulingv1alpha1.Reservation
	// Pods are the UIDs of the users.
	Pods map[types.UID]decision.User
}

// Holder shows reserve pods on nodes: the scheduler's cache. It is called with the state locked and must not call back.
type Holder interface {
	// Hold replaces a pod: before is nil when it is new, after is nil when it goes. A pod that goes may not be there, and one
	// that is new may be assumed.
	Hold(before, after *corev1.Pod)
}

// State is the shared state of one scheduler. It is safe for concurrent use.
type State struct {
	informer *informer.Informer
	synced   []cache.InformerSynced

	mutex sync.RWMutex
	// entries are the active reservations.
	entries map[types.UID]*entry
	names   map[string]types.UID
	nodes   map[string]map[types.UID]*entry
	index   map[decision.Key]map[types.UID]*entry
	// users of each reservation, active or not, and the reservation that each uses.
	users map[types.UID]map[types.UID]user
	uses  map[types.UID]types.UID
	// left are users that Leave removed ahead of the event that reports their end.
	left     map[types.UID]bool
	holder   Holder
	handlers []cache.ResourceEventHandler
	used     []func(*View)
	opened   []func(types.UID)
	// active is the number of entries, for a look without the lock.
	active atomic.Int64
}

// entry is one active reservation.
type entry struct {
	compiled *decision.Reservation
	object   *schedulingv1alpha1.Reservation
	// base is the reserve pod of the unused reservation.
	base *corev1.Pod
	view *View
}

// user is a pod that uses a reservation.
type user struct {
	decision.User
	node string
	// assumed is true until the API server shows the annotation.
	assumed bool
}

// New creates the state of a scheduler for the cluster that config reaches. Pods come from the scheduler's own informer. Nothing
// is watched before Run.
func New(config *rest.Config, pods cache.SharedIndexInformer) (*State, error) {
	source, err := informer.New(config, kind)
	if err != nil {
		return nil, err
	}
	return newState(source, pods)
}

// NewFrom is New for Reservations from another source.
func NewFrom(source cache.ListerWatcher, pods cache.SharedIndexInformer) (*State, error) {
	watched, err := informer.NewFrom(source, kind)
	if err != nil {
		return nil, err
	}
	return newState(watched, pods)
}

func newState(source *informer.Informer, pods cache.SharedIndexInformer) (*State, error) {
	state := &State{
		informer: source, entries: map[types.UID]*entry{}, names: map[string]types.UID{}, nodes: map[string]map[types.UID]*entry{},
		index: map[decision.Key]map[types.UID]*entry{}, users: map[types.UID]map[types.UID]user{}, uses: map[types.UID]types.UID{},
		left: map[types.UID]bool{},
	}
	for _, watched := range []struct {
		informer cache.SharedIndexInformer
		handler  cache.ResourceEventHandler
	}{{source, state.reservationHandler()}, {pods, state.podHandler()}} {
		registration, err := watched.informer.AddEventHandler(watched.handler)
		if err != nil {
			return nil, fmt.Errorf("watch for reservations: %w", err)
		}
		state.synced = append(state.synced, registration.HasSynced)
	}
	return state, nil
}

// Run watches Reservations until the context ends. That the cluster does not serve them is not an error.
func (s *State) Run(ctx context.Context) { s.informer.RunWithContext(ctx) }

// Informer of Reservations.
func (s *State) Informer() cache.SharedIndexInformer { return s.informer }

// Settled is true once all Reservations and their users are known, or Reservations are known not to be served.
func (s *State) Settled() bool {
	return (s.informer.Missing() || s.synced[0]()) && s.synced[1]()
}

// Attach shows all that is held, and what will be, to the scheduler's cache.
func (s *State) Attach(holder Holder) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.holder = holder
	for _, e := range s.entries {
		if e.object != nil && e.view.Held != nil {
			holder.Hold(nil, e.view.Held)
		}
	}
}

// AddReservePodHandler registers a handler of pods, such as that of a ledger, that must hear of reserve pods, too: they appear
// with their allocations when the reservation is placed, change with its use, and go. It must be called before Run, and the
// handler must not call the state.
func (s *State) AddReservePodHandler(handler cache.ResourceEventHandler) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.handlers = append(s.handlers, handler)
}

// AddUseHandler registers a function that must hear of every active reservation that appears or whose users change, among them
// those whose binding the API server has just shown. It must be called before Run; it is called with the state locked, must be
// quick, and must not call the state.
func (s *State) AddUseHandler(handle func(*View)) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.used = append(s.used, handle)
}

// AddOpenHandler registers a function that must hear of every active reservation that appears, or is edited so that other pods
// may use it than before. It must be called before Run; it is called with the state locked, must be quick, and must not call
// the state.
func (s *State) AddOpenHandler(handle func(types.UID)) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.opened = append(s.opened, handle)
}

// Empty is true when no reservation holds room. It takes no lock.
func (s *State) Empty() bool { return s.active.Load() == 0 }

// Get returns a Reservation by name.
func (s *State) Get(name string) (*schedulingv1alpha1.Reservation, bool) {
	return informer.Get[*schedulingv1alpha1.Reservation](s.informer, name)
}

// Owned returns the active reservations of which a pod is an owner, in no order.
func (s *State) Owned(pod *corev1.Pod) []*View {
	if s.Empty() {
		return nil
	}
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	var owned []*View
	seen := map[types.UID]bool{}
	decision.KeysOf(pod, func(key decision.Key) {
		for uid, e := range s.index[key] {
			if !seen[uid] {
				seen[uid] = true
				if e.compiled.UID != pod.UID && e.compiled.MatchesOwner(pod) {
					owned = append(owned, e.view)
				}
			}
		}
	})
	return owned
}

// All returns the active reservations, in no order.
func (s *State) All() []*View {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	all := make([]*View, 0, len(s.entries))
	for _, e := range s.entries {
		all = append(all, e.view)
	}
	return all
}

// OnNode returns the active reservations of a node, in no order.
func (s *State) OnNode(node string) []*View {
	if s.Empty() {
		return nil
	}
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	var views []*View
	for _, e := range s.nodes[node] {
		views = append(views, e.view)
	}
	return views
}

// ByUID returns an active reservation.
func (s *State) ByUID(uid types.UID) (*View, bool) {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	if e, found := s.entries[uid]; found {
		return e.view, true
	}
	return nil, false
}

// UserCount is the number of pods that use an active reservation.
func (s *State) UserCount(uid types.UID) int {
	view, active := s.ByUID(uid)
	if !active {
		return 0
	}
	return view.Users
}

// UsedBy returns the active reservation that a pod uses.
func (s *State) UsedBy(pod types.UID) (*View, bool) {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	if e, found := s.entries[s.uses[pod]]; found {
		return e.view, true
	}
	return nil, false
}

// Bound returns the pods on a node that use a reservation, active or not, and whose binding the API server has shown.
func (s *State) Bound(uid types.UID, node string) map[types.UID]decision.User {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	bound := map[types.UID]decision.User{}
	for pod, u := range s.users[uid] {
		if !u.assumed && u.node == node {
			bound[pod] = u.User
		}
	}
	return bound
}
