package reservations

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	decision "koordinator.sh/koord/decision/scheduling/reservation"
)

// ErrInactive means that a reservation ended, or changed so that a pod can no longer use it.
var ErrInactive = errors.New(decision.ReasonInactive)

// Assume makes a pod a user of a reservation before the API server knows. annotations are what plugins allocated to it in the
// cycle. The reservation must still be active, and have what a restricted user takes.
func (s *State) Assume(pod *corev1.Pod, reservation types.UID, annotations map[string]string) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	e, found := s.entries[reservation]
	if !found {
		return ErrInactive
	}
	if e.compiled.Once && e.view.Users > 0 {
		return fmt.Errorf("%w: %s", ErrInactive, decision.ReasonAllocatedOnce)
	}
	taking := decision.NewUser(pod, annotations)
	for name := range e.compiled.Restricted {
		if left := e.compiled.Allocatable[name] - e.view.Taken[name]; taking.Requests[name] > left {
			return fmt.Errorf("%w: %d %s left, %d wanted", ErrInactive, left, name, taking.Requests[name])
		}
	}
	s.setUser(reservation, user{User: taking, node: e.compiled.Node, assumed: true})
	return nil
}

// Expect makes running pods users of a reservation that is about to be placed on their node.
func (s *State) Expect(reservation types.UID, node string, pods []*corev1.Pod) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, pod := range pods {
		s.setUser(reservation, user{User: decision.NewUser(pod, pod.Annotations), node: node, assumed: true})
	}
}

// Forget takes back Assume or Expect for a pod, unless the API server has shown that it came true.
func (s *State) Forget(pod types.UID) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.users[s.uses[pod]][pod].assumed {
		s.dropUser(pod)
	}
}

// Leave takes the room of a user back into its reservation ahead of the event that reports its end. The scheduler's cache calls it
// before it drops the pod: between the two the room is counted twice, and never free.
func (s *State) Leave(pod types.UID) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if _, uses := s.uses[pod]; uses {
		s.left[pod] = true
		s.dropUser(pod)
	}
}

// setUser expects the lock to be held.
func (s *State) setUser(reservation types.UID, u user) {
	if before, uses := s.uses[u.UID]; uses && before != reservation {
		s.dropUser(u.UID)
	}
	if s.users[reservation] == nil {
		s.users[reservation] = map[types.UID]user{}
	}
	s.users[reservation][u.UID] = u
	s.uses[u.UID] = reservation
	s.refresh(reservation)
}

// dropUser expects the lock to be held.
func (s *State) dropUser(pod types.UID) {
	reservation, uses := s.uses[pod]
	if !uses {
		return
	}
	delete(s.uses, pod)
	delete(s.users[reservation], pod)
	if len(s.users[reservation]) == 0 {
		delete(s.users, reservation)
	}
	s.refresh(reservation)
}

// refresh derives what is left of a reservation from its users, and shows it. It expects the lock to be held.
func (s *State) refresh(reservation types.UID) {
	e, found := s.entries[reservation]
	if !found {
		return
	}
	users := s.usersOn(e.compiled)
	var before *corev1.Pod
	if e.view != nil {
		before = e.view.Held
	}
	after := e.remainder(users)
	if same(before, after) {
		after = before
	}
	if e.view == nil && after == nil && e.object != nil {
		before = e.base // the pod that was assumed goes
	}
	e.view = &View{
		Candidate: decision.Candidate{Reservation: e.compiled, Use: decision.UseOf(e.compiled, users)}, Held: after, Object: e.object, Pods: users,
	}
	s.show(e, before, after)
	for _, handle := range s.used {
		handle(e.view)
	}
}

// remainder of a reservation. An operating-mode pod stays on its node also when its user has all that it holds.
func (e *entry) remainder(users map[types.UID]decision.User) *corev1.Pod {
	if e.object == nil {
		return shownAs(e.compiled, users)
	}
	return decision.Remainder(e.compiled, e.base, users)
}

// same reports whether a plugin would see no difference between two versions of a reserve pod.
func same(a, b *corev1.Pod) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a == b || equality.Semantic.DeepEqual(a.Spec, b.Spec) && equality.Semantic.DeepEqual(a.Labels, b.Labels) && equality.Semantic.DeepEqual(a.Annotations, b.Annotations)
}

// show passes the change of a reserve pod on to the scheduler's cache and the handlers. It expects the lock to be held.
func (s *State) show(e *entry, before, after *corev1.Pod) {
	if before == after {
		return
	}
	if e.object == nil && (before == nil || after == nil) {
		return // operating-mode pods come and go with the pods of the cluster
	}
	if s.holder != nil {
		s.holder.Hold(before, after)
	}
	for _, handler := range s.handlers {
		switch {
		case before == nil:
			handler.OnAdd(after, false)
		case after == nil:
			handler.OnDelete(before)
		default:
			handler.OnUpdate(before, after)
		}
	}
}
