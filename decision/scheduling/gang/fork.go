package gang

import "maps"

// Fork returns an independent copy, to suppose things in. Pods and rules are shared, and are not changed by either.
func (b *Book) Fork() *Book {
	fork := &Book{gangs: make(map[Key]*Gang, len(b.gangs)), gangOf: maps.Clone(b.gangOf), listedBy: make(map[Key]map[Key]bool, len(b.listedBy)), defaults: b.defaults, moment: b.moment}
	for key, gang := range b.gangs {
		copied := *gang
		copied.Members = maps.Clone(gang.Members)
		for uid, member := range copied.Members {
			own := *member
			copied.Members[uid] = &own
		}
		fork.gangs[key] = &copied
	}
	for key, listed := range b.listedBy {
		fork.listedBy[key] = maps.Clone(listed)
	}
	return fork
}
