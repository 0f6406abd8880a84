package rebalance

// Class of a node by its load.
type Class string

// The classes. Targets are compared with each other, so that no node is underutilized.
const (
	// Unknown load: the node decides nothing.
	Unknown Class = "unknown"
	// Normal nodes are at or below all high thresholds.
	Normal Class = "normal"
	// High nodes are above a high threshold.
	High Class = "high"
)

// NodeClass is the class of a node with its numbers, in the order of the resources of the input.
type NodeClass struct {
	Class Class
	// Load as fractions of the capacity; nil when it is unknown.
	Load []float64
	// Over says which resources are above their high threshold; nil when the load is unknown.
	Over []bool
}

// Classify returns the classes of the nodes, in their order, as a pass sees them when it begins. Of the input it reads Args, Resources and
// Nodes. It takes time linear in the nodes.
func Classify(in Input) []NodeClass {
	l := newLoad(&in)
	out := make([]NodeClass, len(in.Nodes))
	for n := range out {
		out[n] = l.class(n)
	}
	return out
}

func (l *load) class(n int) NodeClass {
	if !l.known[n] {
		return NodeClass{Class: Unknown}
	}
	out := NodeClass{Class: Normal, Load: l.row(n), Over: make([]bool, l.width)}
	if l.hot(n) {
		out.Class = High
	}
	for r, u := range out.Load {
		out.Over[r] = l.exceeds(r, u)
	}
	return out
}
