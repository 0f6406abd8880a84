package workers

import (
	"cmp"
	"container/heap"
)

// seat is a node that a waiting pod could get.
type seat struct {
	node int
	// lost is how many workers fewer would fit there, and room how many would still.
	lost, room int32
}

// seats are a heap of them, the best first: see heap.Interface.
type seats []seat

func (s seats) Len() int      { return len(s) }
func (s seats) Swap(i, j int) { s[i], s[j] = s[j], s[i] }

// Push adds one at the end, for heap.Push.
func (s *seats) Push(x any) { *s = append(*s, x.(seat)) }

// Pop takes the last one, for heap.Pop.
func (s *seats) Pop() any {
	last := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]
	return last
}

// Less orders by the workers that are lost, then by the room, then by the order of the nodes.
func (s seats) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(s[i].lost, s[j].lost), cmp.Compare(s[j].room, s[i].room), cmp.Compare(s[i].node, s[j].node)) < 0
}

// place gives waiting pods their nodes: each the one on which the fewest workers are lost to it, then the one with the most room. Of pods that
// are alike, all nodes are looked at once: each changes no other than its own.
func (r *rooms) place() {
	var open seats
	for i := range r.in.Waiting {
		group := &r.in.Waiting[i]
		request := r.vector(group.Request)
		open = r.seats(open[:0], group, request)
		for range max(group.Count, 1) {
			if len(open) == 0 {
				break
			}
			best := open[0]
			for n, amount := range request {
				r.free[best.node][n] -= amount
			}
			r.waiting += int64(best.lost)
			r.placed++
			if next, fits := r.seat(best.node, request); fits {
				open[0] = next
				heap.Fix(&open, 0)
			} else {
				heap.Pop(&open)
			}
		}
	}
}

// seats are the nodes that a group of waiting pods could get.
func (r *rooms) seats(open seats, group *Waiting, request vector) seats {
	for n := range r.in.Nodes {
		node := &r.in.Nodes[n]
		if node.Lost || node.Closed != "" || group.Nodes != nil && !group.Nodes[node.Name] {
			continue
		}
		if one, fits := r.seat(n, request); fits {
			open = append(open, one)
		}
	}
	heap.Init(&open)
	return open
}

// seat is a node as a waiting pod could get it now, or false where it does not fit.
func (r *rooms) seat(node int, request vector) (seat, bool) {
	free := r.free[node]
	if fits(free, request) == 0 {
		return seat{}, false
	}
	for n, amount := range request {
		r.scratch[n] = free[n] - amount
	}
	after := r.fit(node, r.scratch)
	return seat{node: node, lost: r.fit(node, free) - after, room: after}, true
}
