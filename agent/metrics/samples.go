package metrics

import "time"

// Sample is a usage at a time.
type Sample struct {
	At    time.Time
	Usage Usage
}

// Samples are those of the node in (at-over, at], the newest first.
func (n *Node) Samples(at time.Time, over time.Duration) []Sample {
	var out []Sample
	for s := range n.node.within(at, over) {
		out = append(out, Sample{At: time.Unix(0, s.at), Usage: s.usage})
	}
	return out
}
