package reservations

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	decision "koordinator.sh/koord/decision/scheduling/reservation"
)

// Supposition is a State in which some pods are supposed to be gone: users give their room back to their reservations, and
// reservations end with their reserve pods. It reads what the State says otherwise and writes nothing. It is immutable and safe
// for concurrent use.
type Supposition struct {
	*State
	gone map[types.UID]bool
	// views replace those of the State, nil for a reservation that ended.
	views map[types.UID]*View
}

// Held is how the pod on a node changes that holds the room of a reservation; nil where there is none.
type Held struct{ Before, After *corev1.Pod }

// Suppose returns a Supposition in which no pod is gone.
func (s *State) Suppose() *Supposition { return &Supposition{State: s} }

// Without returns a Supposition in which one more pod is gone, and what that changes on its node.
func (s *Supposition) Without(pod *corev1.Pod) (*Supposition, Held) {
	next := &Supposition{State: s.State, gone: map[types.UID]bool{}, views: map[types.UID]*View{}}
	maps.Copy(next.gone, s.gone)
	maps.Copy(next.views, s.views)
	next.gone[pod.UID] = true
	if _, holds := s.ByUID(pod.UID); holds {
		next.views[pod.UID] = nil
	}
	used, uses := s.UsedBy(pod.UID)
	if !uses {
		return next, Held{}
	}
	users := maps.Clone(used.Pods)
	delete(users, pod.UID)
	after := *used
	after.Pods, after.Candidate.Use = users, decision.UseOf(used.Reservation, users)
	s.State.mutex.RLock()
	if e, active := s.State.entries[used.UID]; active {
		after.Held = e.remainder(users)
	}
	s.State.mutex.RUnlock()
	next.views[used.UID] = &after
	return next, Held{Before: used.Held, After: after.Held}
}

// supposed puts what is supposed in the place of what is.
func (s *Supposition) supposed(views []*View) []*View {
	if len(s.views) == 0 {
		return views
	}
	replaced := slices.Clone(views)
	for i, view := range replaced {
		if other, edited := s.views[view.UID]; edited {
			replaced[i] = other
		}
	}
	return slices.DeleteFunc(replaced, func(view *View) bool { return view == nil })
}

// Owned implements what State does.
func (s *Supposition) Owned(pod *corev1.Pod) []*View { return s.supposed(s.State.Owned(pod)) }

// All implements what State does.
func (s *Supposition) All() []*View { return s.supposed(s.State.All()) }

// OnNode implements what State does.
func (s *Supposition) OnNode(node string) []*View { return s.supposed(s.State.OnNode(node)) }

// ByUID implements what State does.
func (s *Supposition) ByUID(uid types.UID) (*View, bool) {
	if view, edited := s.views[uid]; edited {
		return view, view != nil
	}
	return s.State.ByUID(uid)
}

// UsedBy implements what State does.
func (s *Supposition) UsedBy(pod types.UID) (*View, bool) {
	if s.gone[pod] {
		return nil, false
	}
	view, uses := s.State.UsedBy(pod)
	if !uses {
		return nil, false
	}
	return s.ByUID(view.UID)
}

// Assume does nothing, like the next two: nothing is reserved in what is supposed.
func (s *Supposition) Assume(*corev1.Pod, types.UID, map[string]string) error { return nil }

// Expect does nothing.
func (s *Supposition) Expect(types.UID, string, []*corev1.Pod) {}

// Forget does nothing.
func (s *Supposition) Forget(types.UID) {}

// Handlers are what the State does on events of Reservations and of pods, for those who have them from elsewhere than the
// informers that the State was made with.
func (s *State) Handlers() (reservations, pods cache.ResourceEventHandler) {
	return s.reservationHandler(), s.podHandler()
}
