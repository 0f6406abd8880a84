package gangs

import "koordinator.sh/koord/decision/scheduling/gang"

// Keys of all gangs that are known, in order.
func (v *View) Keys() []gang.Key {
	v.mutex.RLock()
	defer v.mutex.RUnlock()
	known := v.book.Gangs()
	keys := make([]gang.Key, len(known))
	for i := range known {
		keys[i] = known[i].Key
	}
	return keys
}
