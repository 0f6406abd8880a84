package reservations

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/core/podrequest"
	decision "koordinator.sh/koord/decision/scheduling/reservation"
)

func (s *State) reservationHandler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { s.observe(object) },
		UpdateFunc: func(before, after any) {
			if !sameUID(before, after) {
				s.gone(before)
			}
			s.observe(after)
		},
		DeleteFunc: func(object any) { s.gone(lastKnown(object)) },
	}
}

func sameUID(before, after any) bool {
	a, known := before.(*schedulingv1alpha1.Reservation)
	b, ok := after.(*schedulingv1alpha1.Reservation)
	return known && ok && a.UID == b.UID
}

// gone forgets a Reservation that was deleted.
func (s *State) gone(object any) {
	if r, ok := object.(*schedulingv1alpha1.Reservation); ok {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		s.end(r)
	}
}

// end forgets a Reservation that holds nothing any more. While a watch is broken one can be placed and end without ever being
// shown as placed; then its reserve pod is still what the placement assumed. It expects the lock to be held.
func (s *State) end(r *schedulingv1alpha1.Reservation) {
	if _, known := s.entries[r.UID]; known {
		s.remove(r.UID)
		return
	}
	s.show(&entry{object: r}, decision.ReservePod(r, "", false), nil)
}

func lastKnown(object any) any {
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		return gone.Obj
	}
	return object
}

func (s *State) observe(object any) {
	r, ok := object.(*schedulingv1alpha1.Reservation)
	if !ok {
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if before, known := s.names[r.Name]; known && before != r.UID {
		s.remove(before) // deleted and created again between two events
	}
	switch {
	case decision.Terminal(r):
		s.end(r)
		return
	case !decision.Active(r):
		s.remove(r.UID)
		return
	}
	compiled, _ := decision.Compile(r) // owners that cannot be read match no pod; the controller reports it
	s.put(&entry{compiled: compiled, object: r, base: decision.ReservePod(r, "", false)})
}

// put replaces an entry. It expects the lock to be held.
func (s *State) put(e *entry) {
	uid := e.compiled.UID
	before, known := s.entries[uid]
	if known {
		if before.compiled.Node != e.compiled.Node {
			s.remove(uid)
		} else {
			s.unlink(before)
			e.view = before.view
		}
	}
	s.entries[uid] = e
	s.link(e)
	s.active.Store(int64(len(s.entries)))
	s.refresh(uid)
	if known && offersTheSame(before.compiled, e.compiled) {
		return
	}
	for _, handle := range s.opened {
		handle(uid)
	}
}

// offersTheSame reports whether the same pods may use two versions of a reservation, and the same amounts of it.
func offersTheSame(a, b *decision.Reservation) bool {
	before, after := *a, *b
	before.Pod, after.Pod = nil, nil
	return reflect.DeepEqual(before, after)
}

// remove expects the lock to be held.
func (s *State) remove(uid types.UID) {
	e, known := s.entries[uid]
	if !known {
		return
	}
	delete(s.entries, uid)
	s.unlink(e)
	s.active.Store(int64(len(s.entries)))
	s.show(e, e.view.Held, nil)
}

func (s *State) link(e *entry) {
	uid := e.compiled.UID
	for _, key := range e.compiled.Keys() {
		add(s.index, key, uid, e)
	}
	add(s.nodes, e.compiled.Node, uid, e)
	if e.object != nil {
		s.names[e.compiled.Name] = uid
	}
}

func (s *State) unlink(e *entry) {
	uid := e.compiled.UID
	for _, key := range e.compiled.Keys() {
		drop(s.index, key, uid)
	}
	drop(s.nodes, e.compiled.Node, uid)
	if e.object != nil {
		delete(s.names, e.compiled.Name)
	}
}

func add[K comparable](index map[K]map[types.UID]*entry, key K, uid types.UID, e *entry) {
	if index[key] == nil {
		index[key] = map[types.UID]*entry{}
	}
	index[key][uid] = e
}

func drop[K comparable](index map[K]map[types.UID]*entry, key K, uid types.UID) {
	delete(index[key], uid)
	if len(index[key]) == 0 {
		delete(index, key)
	}
}

func (s *State) podHandler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { s.observePod(nil, object) },
		UpdateFunc: s.observePod,
		DeleteFunc: func(object any) {
			if pod, ok := lastKnown(object).(*corev1.Pod); ok {
				s.forgetPod(pod)
			}
		},
	}
}

func (s *State) forgetPod(pod *corev1.Pod) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.left, pod.UID)
	s.dropUser(pod.UID)
	s.remove(pod.UID) // when it was in operating mode
}

// observePod follows pods that are on a node. Nearly all of them have nothing to do with reservations, and cost no lock.
func (s *State) observePod(oldObject, object any) {
	pod, ok := object.(*corev1.Pod)
	if !ok || pod.Spec.NodeName == "" {
		return
	}
	before, _ := oldObject.(*corev1.Pod)
	operating := extension.IsReservationOperatingMode(pod.Labels)
	if !concerns(pod) && (before == nil || !concerns(before)) {
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.left[pod.UID] {
		return
	}
	if !podrequest.Consumes(pod) {
		s.dropUser(pod.UID)
		s.remove(pod.UID)
		return
	}
	s.observeUser(pod)
	if operating && !decision.IsReservePod(pod) {
		compiled, _ := decision.CompileOperatingPod(pod) // owners that cannot be read match no pod
		s.put(&entry{compiled: compiled})
	} else {
		s.remove(pod.UID)
	}
}

func concerns(pod *corev1.Pod) bool {
	return pod.Annotations[extension.AnnotationReservationAllocated] != "" || extension.IsReservationOperatingMode(pod.Labels)
}

// observeUser expects the lock to be held.
func (s *State) observeUser(pod *corev1.Pod) {
	allocated, err := extension.GetReservationAllocated(pod.Annotations)
	if err != nil || allocated == nil || allocated.UID == "" {
		if uses, found := s.uses[pod.UID]; found && !s.users[uses][pod.UID].assumed {
			s.dropUser(pod.UID)
		}
		return
	}
	s.setUser(allocated.UID, user{User: decision.NewUser(pod, pod.Annotations), node: pod.Spec.NodeName})
}
