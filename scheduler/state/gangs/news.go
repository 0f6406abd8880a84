package gangs

import (
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/decision/scheduling/gang"
)

// Given returns the room that a member gave back because its group was rejected, once; false when it gave none back.
func (s *State) Given(uid types.UID) (gang.Released, bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.book.TakeReleased(uid)
}

// News says whether a pod may find a node because of room that was given back.
func (s *State) News(room gang.Released, uid types.UID) bool {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	return s.book.MayUseReleased(room, uid)
}
