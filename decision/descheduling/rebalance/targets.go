package rebalance

import (
	"cmp"
	"slices"
)

// targets are the nodes that pods may move to, those with the lowest load first.
type targets struct {
	order []int32
	// level that a node is sorted by.
	level []float64
	// limit of each node and resource, less the margin.
	limit []float64
	// closed nodes take no pods in this pass: they are cordoned or unknown, or were full at its begin.
	closed []bool
}

func newTargets(p *pass) targets {
	nodes, width := len(p.in.Nodes), p.load.width
	t := targets{order: make([]int32, 0, nodes), level: make([]float64, nodes), limit: make([]float64, nodes*width), closed: make([]bool, nodes)}
	margin := float64(*p.in.Args.TargetMarginPercent) / 100
	for n := range p.in.Nodes {
		node := &p.in.Nodes[n]
		t.closed[n] = node.Unschedulable || !p.load.known[n]
		for r := range width {
			limit := p.load.high[r]
			if len(node.Limit) == width && node.Limit[r] > 0 {
				limit = min(limit, node.Limit[r])
			}
			t.limit[n*width+r] = limit - margin
			t.closed[n] = t.closed[n] || p.load.row(n)[r] >= limit-margin
		}
		if !t.closed[n] {
			t.order = append(t.order, int32(n))
		}
	}
	t.sort(p.load)
	return t
}

// sort orders all targets again.
func (t *targets) sort(l *load) {
	for _, n := range t.order {
		t.level[n] = l.level(int(n))
	}
	slices.SortFunc(t.order, t.compare)
}

func (t *targets) compare(a, b int32) int {
	return cmp.Or(cmp.Compare(t.level[a], t.level[b]), cmp.Compare(a, b))
}

// remove takes a node out before its load changes, and put brings it back afterwards.
func (t *targets) remove(n int) {
	if at, found := slices.BinarySearchFunc(t.order, int32(n), t.compare); found {
		t.order = slices.Delete(t.order, at, at+1)
	}
}

func (t *targets) put(n int, level float64) {
	if t.closed[n] {
		return
	}
	t.level[n] = level
	at, _ := slices.BinarySearchFunc(t.order, int32(n), t.compare)
	t.order = slices.Insert(t.order, at, int32(n))
}

// sources are the nodes from which moves can gain something, that with the most first.
type sources struct {
	nodes []int
	most  []float64
	// least load of any target, by resource.
	least []float64
}

func newSources(p *pass) sources {
	s := sources{most: make([]float64, len(p.in.Nodes)), least: make([]float64, p.load.width)}
	for r := range s.least {
		s.least[r] = mostLoad
		for _, n := range p.targets.order {
			s.least[r] = min(s.least[r], p.load.row(int(n))[r])
		}
	}
	for n := range p.in.Nodes {
		if !p.load.known[n] {
			continue
		}
		// A node without a pod has nothing to move, and one that is hot is looked at to say why nothing is moved.
		if s.most[n] = p.load.most(n, s.least); len(p.podsOf(n)) > 0 && (s.most[n] > p.least(leastCost) || p.load.hot(n)) {
			s.nodes = append(s.nodes, n)
		}
	}
	slices.SortFunc(s.nodes, func(a, b int) int { return s.compare(a, b) })
	return s
}

func (s *sources) compare(a, b int) int {
	return cmp.Or(cmp.Compare(s.most[b], s.most[a]), cmp.Compare(a, b))
}

// Len, Less, Swap, Push and Pop are those of a heap.
func (s *sources) Len() int { return len(s.nodes) }

// Less puts the node with the most to gain first.
func (s *sources) Less(i, j int) bool { return s.compare(s.nodes[i], s.nodes[j]) < 0 }

// Swap two nodes.
func (s *sources) Swap(i, j int) { s.nodes[i], s.nodes[j] = s.nodes[j], s.nodes[i] }

// Push adds a node.
func (s *sources) Push(n any) { s.nodes = append(s.nodes, n.(int)) }

// Pop removes the last node.
func (s *sources) Pop() any {
	last := s.nodes[len(s.nodes)-1]
	s.nodes = s.nodes[:len(s.nodes)-1]
	return last
}
