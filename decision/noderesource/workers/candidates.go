package workers

import (
	"cmp"
	"fmt"
	"slices"
)

// Candidate is a worker that goes if fewer are wanted.
type Candidate struct {
	Name, Node string
	// Reason why it goes before others.
	Reason string
	// Budget is the PodDisruptionBudget that keeps it for now; empty where none does.
	Budget string
}

// The order in which workers go, by what is true of their node.
const (
	waits = iota
	lost
	shortNow
	shortLater
	closed
	others
)

// ranked is a worker with its place in the order.
type ranked struct {
	pod    *Pod
	rank   int
	reason string
}

// candidates are the workers that are not draining, in the order in which they go.
func (d *decision) candidates() []Candidate {
	order := d.rank()
	slices.SortStableFunc(order, func(a, b ranked) int { return cmp.Compare(a.rank, b.rank) })
	left := map[string]int32{}
	for name, allowed := range d.in.Budgets {
		left[name] = allowed
	}
	out := make([]Candidate, 0, len(order))
	for _, each := range order {
		candidate := Candidate{Name: each.pod.Name, Node: each.pod.Node, Reason: each.reason}
		for _, budget := range each.pod.Budgets {
			if left[budget] <= 0 {
				candidate.Budget = budget
			}
		}
		if candidate.Budget == "" {
			for _, budget := range each.pod.Budgets {
				left[budget]--
			}
		}
		out = append(out, candidate)
	}
	return out
}

// rank says what is true of each worker's node. On a node that has more workers than fit, only those beyond are short.
func (d *decision) rank() []ranked {
	pods := make([]*Pod, 0, len(d.in.Pods))
	for i := range d.in.Pods {
		if !d.in.Pods[i].Draining {
			pods = append(pods, &d.in.Pods[i])
		}
	}
	slices.SortFunc(pods, d.before)
	byName := map[string]int{}
	for i := range d.rooms.each {
		byName[d.rooms.each[i].Name] = i
	}
	gone := map[string]int32{}
	out := make([]ranked, 0, len(pods))
	for _, pod := range pods {
		one := ranked{pod: pod, rank: others, reason: leastLoaded(pod)}
		index, known := byName[pod.Node]
		switch {
		case d.in.Spec.Ordinals:
			one.reason = "the highest ordinals go first"
		case pod.Node == "":
			one.rank, one.reason = waits, "it waits for a node"
		case known:
			room := &d.rooms.each[index]
			one.rank, one.reason = place(room, &d.in.Nodes[index], gone[pod.Node], one)
			gone[pod.Node]++
		}
		out = append(out, one)
	}
	return out
}

// place is the rank of a worker on a node of which so many go before it.
func place(room *Room, node *Node, before int32, otherwise ranked) (rank int, reason string) {
	stay := room.Workers - before
	switch {
	case node.Lost:
		return lost, "its node is not ready"
	case stay > room.Now:
		return shortNow, fmt.Sprintf("its node offers enough for %d of %d workers", room.Now, room.Workers)
	case stay > room.Later:
		return shortLater, fmt.Sprintf("its node is predicted to offer enough for %d of %d workers", room.Later, room.Workers)
	case node.Closed != "":
		return closed, node.Closed
	}
	return otherwise.rank, otherwise.reason
}

// before orders workers of which the same is true: by ordinal where that is how they go, else the least loaded, then the youngest.
func (d *decision) before(a, b *Pod) int {
	if d.in.Spec.Ordinals {
		return cmp.Or(cmp.Compare(b.Ordinal, a.Ordinal), cmp.Compare(a.Name, b.Name))
	}
	used := 0
	if a.Used >= 0 && b.Used >= 0 {
		used = cmp.Compare(a.Used, b.Used)
	} else {
		used = cmp.Compare(min(b.Used, 0), min(a.Used, 0)) // those of which it is known come first
	}
	return cmp.Or(used, b.Created.Compare(a.Created), cmp.Compare(a.Name, b.Name))
}

func leastLoaded(pod *Pod) string {
	if pod.Used < 0 {
		return "the youngest go first"
	}
	return fmt.Sprintf("it uses %dm of CPU, and those that use least go first", pod.Used)
}

// choose picks the workers to drain so that, with those that drain already, enough go. Where PodDisruptionBudgets keep too many, fewer go.
func (d *decision) choose(candidates []Candidate) {
	desired, base := d.steps.Value(), int64(d.base())
	unmade := max(int64(d.in.Current)-int64(len(d.in.Pods)), 0) // not created yet, and taken away first
	missing := base - desired - unmade
	for _, candidate := range candidates {
		if missing <= 0 {
			break
		}
		if candidate.Budget != "" {
			if d.in.Spec.Ordinals {
				break // no other may go before it
			}
			continue
		}
		d.verdict.Drain = append(d.verdict.Drain, candidate)
		missing--
	}
	if missing > 0 {
		d.change(missing, Budget, "workers that PodDisruptionBudgets keep")
	}
	if len(d.verdict.Drain) > 0 || desired < base && unmade > 0 {
		d.verdict.History.Down, d.verdict.History.Trend = d.in.Now, nil
	}
}
