package loadaware

import (
	"unsafe"

	corev1 "k8s.io/api/core/v1"
)

// table finds slots by the address of the node object, which the garbage collector does not move: it is asked twice for each node
// and pod, and takes a third of the time of a map. It is built once and never changed.
type table struct {
	entries []entry
	size    int
}

type entry struct {
	node *corev1.Node
	slot *slot
}

// newTable returns a table in which at least half of the entries are empty.
func newTable(slots map[*corev1.Node]*slot) *table {
	length := 2
	for length < 2*len(slots)+1 {
		length *= 2
	}
	t := &table{entries: make([]entry, length), size: len(slots)}
	for node, kept := range slots {
		*t.entryOf(node) = entry{node, kept}
	}
	return t
}

// entryOf returns the entry of a node, or the empty one where it belongs.
func (t *table) entryOf(node *corev1.Node) *entry {
	mask := uint64(len(t.entries) - 1)
	for i := uint64(uintptr(unsafe.Pointer(node))) * 0x9E3779B97F4A7C15 >> 32; ; i++ {
		if found := &t.entries[i&mask]; found.node == node || found.node == nil {
			return found
		}
	}
}
