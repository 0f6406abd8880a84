package workers

import (
	"cmp"
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

// vector are amounts of the resources of rooms, in their order.
type vector []int64

// fits counts the workers that fit in what is free, 0 where nothing is requested.
func fits(free, request vector) int32 {
	count := int64(most)
	requested := false
	for i, amount := range request {
		if amount > 0 {
			requested = true
			count = min(count, max(free[i], 0)/amount)
		}
	}
	if !requested {
		return 0
	}
	return int32(count)
}

// rooms are the nodes with what fits, in the order of the input, and how many workers fit before waiting pods get theirs.
type rooms struct {
	in *Input
	// names are the resources that workers or waiting pods request.
	names   []corev1.ResourceName
	request vector
	// free is what is free of each node; scratch is for what would be.
	free    []vector
	scratch vector
	runs    map[string]int32
	each    []Room
	first   int64
	// waiting is how many workers fewer fit for waiting pods, and placed counts the pods.
	waiting int64
	placed  int
}

func newRooms(in *Input) *rooms {
	r := &rooms{in: in, names: requested(in), runs: map[string]int32{}}
	r.request, r.scratch = r.vector(in.Request), make(vector, len(r.names))
	for i := range in.Pods {
		if !in.Pods[i].Draining && in.Pods[i].Node != "" {
			r.runs[in.Pods[i].Node]++
		}
	}
	r.free = make([]vector, len(in.Nodes))
	for i := range in.Nodes {
		r.free[i] = r.vector(in.Nodes[i].Free)
		r.first += int64(r.fit(i, r.free[i]))
	}
	r.place()
	r.each = make([]Room, len(in.Nodes))
	for i := range in.Nodes {
		node := &in.Nodes[i]
		room := Room{Name: node.Name, Workers: r.runs[node.Name], Now: r.fit(i, r.free[i]), Note: node.note()}
		room.Later = min(room.Now, r.fit(i, r.later(i)))
		r.each[i] = room
	}
	return r
}

// requested are the resources that workers or waiting pods request, in order.
func requested(in *Input) (names []corev1.ResourceName) {
	add := func(request amounts) {
		for name := range request {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	add(in.Request)
	for i := range in.Waiting {
		add(in.Waiting[i].Request)
	}
	slices.Sort(names)
	return names
}

func (r *rooms) vector(from amounts) vector {
	out := make(vector, len(r.names))
	for i, name := range r.names {
		out[i] = from[name]
	}
	return out
}

// fit is how many workers fit on a node: none where it is lost, and no more than run there where it is closed.
func (r *rooms) fit(i int, free vector) int32 {
	node := &r.in.Nodes[i]
	count := fits(free, r.request)
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

// later is what is predicted to be free on a node when waiting pods have theirs. It is valid until the next call.
func (r *rooms) later(i int) vector {
	node, out := &r.in.Nodes[i], r.scratch
	copy(out, r.free[i])
	for n, name := range r.names {
		if amount, predicted := node.Later[name]; predicted {
			out[n] = min(out[n], amount-(node.Free[name]-r.free[i][n]))
		}
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
