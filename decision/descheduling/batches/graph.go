package batches

import "slices"

// graph of the nodes that moves go from and to.
type graph struct {
	moves []Move
	// leaving are the moves from each node, by their places in moves; nodes are in the order of first mention.
	nodes   []string
	leaving map[string][]int
	// component of each node. A component is numbered after all those that moves lead to from it.
	component map[string]int
	// batchOf each move, and depends lists the moves that it waits for.
	batchOf []int
	depends [][]int
}

func newGraph(moves []Move) *graph {
	g := &graph{moves: moves, leaving: map[string][]int{}, batchOf: make([]int, len(moves)), depends: make([][]int, len(moves))}
	seen := map[string]bool{}
	for i, move := range moves {
		for _, node := range []string{move.From, move.To} {
			if !seen[node] {
				seen[node] = true
				g.nodes = append(g.nodes, node)
			}
		}
		g.leaving[move.From] = append(g.leaving[move.From], i)
	}
	g.component = components(g.nodes, func(node string) []string {
		var targets []string
		for _, i := range g.leaving[node] {
			targets = append(targets, moves[i].To)
		}
		return targets
	})
	g.order()
	return g
}

// order gives each move its batch. Components are handled in their order, so that those that moves lead to come first.
func (g *graph) order() {
	members := map[int][]string{}
	for _, node := range g.nodes {
		members[g.component[node]] = append(members[g.component[node]], node)
	}
	// ready is the first batch in which a component takes moves, and before are the moves that this waits for.
	ready, before := make([]int, len(members)), make([][]int, len(members))
	for number := range len(members) {
		var inside, outside []int
		for _, node := range members[number] {
			for _, i := range g.leaving[node] {
				if g.component[g.moves[i].To] == number {
					inside = append(inside, i)
				} else {
					outside = append(outside, i)
				}
			}
		}
		for _, i := range outside {
			to := g.component[g.moves[i].To]
			g.batchOf[i], g.depends[i] = ready[to], before[to]
			ready[number] = max(ready[number], ready[to]+1)
		}
		for _, i := range inside {
			g.batchOf[i], g.depends[i] = ready[number], outside
		}
		if len(inside) > 0 {
			ready[number]++
		}
		before[number] = append(inside, outside...)
	}
}

// batches are the places of the moves, batch by batch.
func (g *graph) batches() [][]int {
	if len(g.moves) == 0 {
		return nil
	}
	out := make([][]int, slices.Max(g.batchOf)+1)
	for i, batch := range g.batchOf {
		out[batch] = append(out[batch], i)
	}
	return out
}

// dropped are the moves to nodes on which no room came free: one that they wait for failed or was dropped itself.
func (g *graph) dropped(moves []Move, trace *Trace) []bool {
	out := make([]bool, len(moves))
	for _, batch := range g.batches() { // what a move waits for lies in batches before it
		for _, i := range batch {
			for _, of := range g.depends[i] {
				if moves[i].State == Waiting && (moves[of].State == Failed || out[of]) {
					out[i] = true
					trace.drop(moves[i], moves[of])
					break
				}
			}
		}
	}
	return out
}
