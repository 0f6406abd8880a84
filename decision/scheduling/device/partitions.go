package device

// PartitionState is one listed GPU partition of a node.
type PartitionState struct {
	// Minors of its GPUs, in ascending order.
	Minors []int32
	// Score by which partitions of the same size are preferred, the highest first.
	Score int
	// Idle counts the GPUs that are healthy and that no pod holds. The partition can be allocated when all are.
	Idle int
}

// Partitions are the listed GPU partitions, the smallest first, and whether the node honors them: only listed partitions are then
// allocated to pods that request whole GPUs.
func (l *Ledger) Partitions() (partitions []PartitionState, honored bool) {
	if l.table == nil {
		return nil, l.labels.honor
	}
	for i := range l.table.sizes {
		for j := range l.table.sizes[i].partitions {
			p := &l.table.sizes[i].partitions[j]
			state := PartitionState{Score: p.score, Idle: p.members.shared(l.idle[gpu])}
			for at := p.members.next(0); at >= 0; at = p.members.next(at + 1) {
				state.Minors = append(state.Minors, l.node.devices[gpu][at].minor)
			}
			partitions = append(partitions, state)
		}
	}
	return partitions, l.labels.honor
}
