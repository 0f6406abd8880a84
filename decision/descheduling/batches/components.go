package batches

// components numbers the strongly connected components of a graph with Tarjan's algorithm: each after all those that it leads to. It keeps
// its own stack, because graphs may be as deep as a cluster has nodes.
func components(nodes []string, targets func(node string) []string) map[string]int {
	t := &tarjan{index: map[string]int{}, low: map[string]int{}, onStack: map[string]bool{}, component: map[string]int{}}
	for _, node := range nodes {
		if _, visited := t.index[node]; !visited {
			t.visit(node, targets)
		}
	}
	return t.component
}

type tarjan struct {
	index, low map[string]int
	onStack    map[string]bool
	stack      []string
	component  map[string]int
	found      int
}

// call is one node that is being visited, and the targets that it has not followed.
type call struct {
	node string
	left []string
}

func (t *tarjan) enter(node string, targets func(node string) []string) call {
	t.index[node], t.low[node] = len(t.index), len(t.index)
	t.stack = append(t.stack, node)
	t.onStack[node] = true
	return call{node: node, left: targets(node)}
}

func (t *tarjan) visit(root string, targets func(node string) []string) {
	calls := []call{t.enter(root, targets)}
	for len(calls) > 0 {
		top := &calls[len(calls)-1]
		if len(top.left) > 0 {
			next := top.left[0]
			top.left = top.left[1:]
			if _, visited := t.index[next]; !visited {
				calls = append(calls, t.enter(next, targets))
			} else if t.onStack[next] {
				t.low[top.node] = min(t.low[top.node], t.index[next])
			}
			continue
		}
		node := top.node
		calls = calls[:len(calls)-1]
		if len(calls) > 0 {
			caller := calls[len(calls)-1].node
			t.low[caller] = min(t.low[caller], t.low[node])
		}
		if t.low[node] == t.index[node] {
			t.close(node)
		}
	}
}

// close takes a component from the stack, down to the node that it was entered by.
func (t *tarjan) close(entry string) {
	for {
		node := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		t.onStack[node] = false
		t.component[node] = t.found
		if node == entry {
			break
		}
	}
	t.found++
}
