package workers

import (
	"cmp"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Room is how many workers fit on a node.
type Room struct {
	Name string
	// Workers that run there, and have not been chosen to go.
	Workers int32
	// Now fit in what it offers, and Later in the least that it is predicted to offer, both without what waiting pods get.
	Now, Later int32
	// Note says why fewer fit than there is room for.
	Note string
}

// most bounds what fits on one node.
const most = math.MaxInt16

// fits counts the workers that fit in what is free, 0 where nothing is requested.
func fits(free, request map[corev1.ResourceName]int64) int32 {
	count := int64(most)
	requested := false
	for name, amount := range request {
		if amount > 0 {
			requested = true
			count = min(count, max(free[name], 0)/amount)
		}
	}
	if !requested {
		return 0
	}
	return int32(count)
}

// rooms are the nodes with what fits, in the order of the input, and how many workers fit before waiting pods get theirs.
type rooms struct {
	in    *Input
	free  []map[corev1.ResourceName]int64
	runs  map[string]int32
	each  []Room
	first int64
	// waiting is how many workers fewer fit for waiting pods, and placed counts the pods.
	waiting int64
	placed  int
}

func newRooms(in *Input) *rooms {
	r := &rooms{in: in, runs: map[string]int32{}}
	for i := range in.Pods {
		if !in.Pods[i].Draining && in.Pods[i].Node != "" {
			r.runs[in.Pods[i].Node]++
		}
	}
	for i := range in.Nodes {
		r.free = append(r.free, maps.Clone(in.Nodes[i].Free))
		r.first += int64(r.fit(i, r.free[i]))
	}
	r.place()
	for i := range in.Nodes {
		node := &in.Nodes[i]
		room := Room{Name: node.Name, Workers: r.runs[node.Name], Now: r.fit(i, r.free[i]), Note: node.note()}
		room.Later = min(room.Now, r.fit(i, r.later(i)))
		r.each = append(r.each, room)
	}
	return r
}

// fit is how many workers fit on a node: none where it is lost, and no more than run there where it is closed.
func (r *rooms) fit(i int, free map[corev1.ResourceName]int64) int32 {
	node := &r.in.Nodes[i]
	count := fits(free, r.in.Request)
	switch {
	case node.Lost:
		return 0
	case node.Closed != "":
		return min(count, r.runs[node.Name])
	}
	return count
}

func (n *Node) note() string {
	if n.Lost {
		return "the node is not ready"
	}
	return n.Closed
}

// later is what is predicted to be free on a node when waiting pods have theirs.
func (r *rooms) later(i int) map[corev1.ResourceName]int64 {
	node := &r.in.Nodes[i]
	out := maps.Clone(r.free[i])
	for name, amount := range node.Later {
		out[name] = min(out[name], amount-(node.Free[name]-r.free[i][name]))
	}
	return out
}

// place gives waiting pods their nodes: each the one on which the fewest workers are lost to it, then the one with the most room.
func (r *rooms) place() {
	for i := range r.in.Waiting {
		pod := &r.in.Waiting[i]
		best, lost, room := -1, int32(0), int32(0)
		for n := range r.in.Nodes {
			node := &r.in.Nodes[n]
			if node.Lost || node.Closed != "" || pod.Nodes != nil && !pod.Nodes[node.Name] || fits(r.free[n], pod.Request) == 0 {
				continue
			}
			before := r.fit(n, r.free[n])
			after := r.fit(n, without(r.free[n], pod.Request))
			if best < 0 || before-after < lost || before-after == lost && after > room {
				best, lost, room = n, before-after, after
			}
		}
		if best < 0 {
			continue
		}
		r.free[best] = without(r.free[best], pod.Request)
		r.waiting += int64(lost)
		r.placed++
	}
}

func without(free, request map[corev1.ResourceName]int64) map[corev1.ResourceName]int64 {
	out := maps.Clone(free)
	for name, amount := range request {
		out[name] -= amount
	}
	return out
}

// gone is how many workers fewer will fit than do now.
func (r *rooms) gone() (count int64, nodes int) {
	for i := range r.each {
		if lost := r.each[i].Now - r.each[i].Later; lost > 0 {
			count += int64(lost)
			nodes++
		}
	}
	return count, nodes
}

// shown are the rooms in the order in which they are shown: those with most workers and most room first.
func (r *rooms) shown() []Room {
	out := slices.Clone(r.each)
	slices.SortFunc(out, func(a, b Room) int {
		return cmp.Or(cmp.Compare(b.Workers, a.Workers), cmp.Compare(b.Now, a.Now), cmp.Compare(a.Name, b.Name))
	})
	return out
}
