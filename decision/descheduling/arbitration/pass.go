package arbitration

import "fmt"

// PassLimits bound the evictions of one pass of the descheduler, over all profiles and plugins; nil is no limit.
type PassLimits struct {
	MaxEvictionsPerNode, MaxEvictionsPerNamespace, MaxEvictionsTotal *uint
}

// The gates of a pass, by the names of the configuration.
const (
	MaxNoOfPodsToEvictPerNode      Gate = "maxNoOfPodsToEvictPerNode"
	MaxNoOfPodsToEvictPerNamespace Gate = "maxNoOfPodsToEvictPerNamespace"
	MaxNoOfPodsToEvictTotal        Gate = "maxNoOfPodsToEvictTotal"
)

// PassCounts are the evictions of one pass so far. The zero value has none.
type PassCounts struct {
	Nodes, Namespaces map[string]uint
	Total             uint
}

// Add counts an eviction.
func (c *PassCounts) Add(node, namespace string) {
	if c.Nodes == nil {
		c.Nodes, c.Namespaces = map[string]uint{}, map[string]uint{}
	}
	c.Nodes[node]++
	c.Namespaces[namespace]++
	c.Total++
}

// Ask says whether the pass may evict one pod more. The total is asked first: when it is used up, the pass is over.
func (l PassLimits) Ask(counts *PassCounts, node, namespace string) Outcome {
	for _, one := range []struct {
		gate Gate
		most *uint
		used uint
		of   string
	}{
		{MaxNoOfPodsToEvictTotal, l.MaxEvictionsTotal, counts.Total, ""},
		{MaxNoOfPodsToEvictPerNode, l.MaxEvictionsPerNode, counts.Nodes[node], " from node " + node},
		{MaxNoOfPodsToEvictPerNamespace, l.MaxEvictionsPerNamespace, counts.Namespaces[namespace], " from namespace " + namespace},
	} {
		if one.most != nil && one.used >= *one.most {
			return Outcome{
				Decision: Waiting, Gate: one.gate, Used: int(one.used), Max: int(*one.most),
				Message: fmt.Sprintf("this pass evicted %d pods%s, at most %d may be", one.used, one.of, *one.most),
			}
		}
	}
	return Outcome{Decision: Admitted}
}
