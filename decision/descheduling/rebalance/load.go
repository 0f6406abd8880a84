package rebalance

import "math"

// mostLoad is the load at which predictions are cut: nothing is used beyond the capacity for long.
const mostLoad = 2

// load is the load of all nodes while a pass changes it, and the potential, which follows from each change.
type load struct {
	width int
	// u is the load of each node and resource as a fraction of the capacity; the row of an unknown node is not read.
	u     []float64
	known []bool
	count float64
	// sum over the known nodes, of each resource.
	sum []float64
	// high and weight of each resource, and mu the weight of the variance.
	high, weight []float64
	mu           float64
	phi          float64
}

func newLoad(in *Input) *load {
	width := len(in.Resources)
	l := &load{
		width: width, u: make([]float64, len(in.Nodes)*width), known: make([]bool, len(in.Nodes)), sum: make([]float64, width),
		high: make([]float64, width), weight: make([]float64, width), mu: *in.Args.VarianceWeight,
	}
	for r, name := range in.Resources {
		l.high[r], l.weight[r] = float64(in.Args.HighThresholds[name])/100, float64(in.Args.ResourceWeights[name])
	}
	for n := range in.Nodes {
		l.known[n] = l.read(n, &in.Nodes[n])
		if !l.known[n] {
			continue
		}
		l.count++
		for r, u := range l.row(n) {
			l.sum[r] += u
		}
	}
	l.phi = l.potential()
	return l
}

// read takes the load of a node; false for one that cannot be used.
func (l *load) read(n int, node *Node) bool {
	if len(node.Usage) != l.width || len(node.Capacity) != l.width {
		return false
	}
	row := l.row(n)
	for r := range row {
		if !usable(node.Usage[r]) || !usable(node.Capacity[r]) || node.Capacity[r] == 0 {
			return false
		}
		row[r] = math.Min(node.Usage[r]/node.Capacity[r], mostLoad)
	}
	return true
}

func usable(value float64) bool { return value >= 0 && !math.IsInf(value, 1) }

func (l *load) row(n int) []float64 { return l.u[n*l.width : (n+1)*l.width] }

// over is how far a load is above the threshold of a resource.
func (l *load) over(r int, u float64) float64 { return math.Max(0, u-l.high[r]) }

func (l *load) hot(n int) bool {
	for r, u := range l.row(n) {
		if l.exceeds(r, u) {
			return true
		}
	}
	return false
}

func (l *load) exceeds(r int, u float64) bool { return u > l.high[r] }

// potential computes Phi from all nodes.
func (l *load) potential() float64 {
	phi := 0.0
	for n, known := range l.known {
		if !known {
			continue
		}
		for r, u := range l.row(n) {
			over, distance := l.over(r, u), u-l.sum[r]/l.count
			phi += l.weight[r] * (over*over + l.mu*distance*distance)
		}
	}
	return phi
}

// gain is by how much Phi falls when a source loses and a target gains load; target -1 is for load that disappears.
func (l *load) gain(source, target int, loses, gains []float64) float64 {
	gain := 0.0
	for r := range l.width {
		before := l.u[source*l.width+r]
		after := math.Max(0, before-loses[r])
		squares, difference := after*after-before*before, after-before
		overBefore, overAfter := l.over(r, before), l.over(r, after)
		excess := overAfter*overAfter - overBefore*overBefore
		if target >= 0 {
			before = l.u[target*l.width+r]
			after = before + gains[r]
			squares, difference = squares+after*after-before*before, difference+after-before
			overBefore, overAfter = l.over(r, before), l.over(r, after)
			excess += overAfter*overAfter - overBefore*overBefore
		}
		// The sum of squared distances to the mean is that of squares less the square of the sum over the count.
		mean := (2*l.sum[r]*difference + difference*difference) / l.count
		gain -= l.weight[r] * (excess + l.mu*(squares-mean))
	}
	return gain
}

// apply makes the change of which gain was computed.
func (l *load) apply(source, target int, loses, gains []float64, gain float64) {
	for r := range l.width {
		at := source*l.width + r
		after := math.Max(0, l.u[at]-loses[r])
		l.sum[r] += after - l.u[at]
		l.u[at] = after
		if target >= 0 {
			l.u[target*l.width+r] += gains[r]
			l.sum[r] += gains[r]
		}
	}
	l.phi -= gain
}

// most bounds what a move off a node can gain: all of its overload, and the squared distance to the least loaded node.
func (l *load) most(n int, least []float64) float64 {
	bound := 0.0
	for r, u := range l.row(n) {
		over, distance := l.over(r, u), math.Max(0, u-least[r])
		bound += l.weight[r] * (over*over + l.mu*distance*distance)
	}
	return bound
}

// level orders targets: the weighted load, which is lowest for the node with the most room.
func (l *load) level(n int) float64 {
	level := 0.0
	for r, u := range l.row(n) {
		level += l.weight[r] * u
	}
	return level
}
