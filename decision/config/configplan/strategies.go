package configplan

import (
	"slices"

	"koordinator.sh/koord/api/configuration"
)

// StrategyMatch is the nodes one strategy of a key holds for.
type StrategyMatch struct {
	// Key of the ConfigMap.
	Key string `json:"key"`
	// Layer is cluster, or node strategy NAME.
	Layer string `json:"layer"`
	// Before and After count the nodes it holds for; nil where the strategy does not exist.
	Before *int `json:"before,omitempty"`
	After  *int `json:"after,omitempty"`
	// Names of all nodes it holds for after the change, ordered.
	Names []string `json:"names,omitempty"`
	// Shadowed counts the nodes that it selects too and that an earlier strategy takes.
	Shadowed int `json:"shadowed,omitempty"`
}

// strategies says which nodes match which strategy, for the keys that have node strategies before or after.
func (b *builder) strategies() {
	for _, key := range configuration.Keys() {
		before, after := b.in.Old.Groups(key), b.in.New.Groups(key)
		if len(before) == 1 && len(after) == 1 {
			continue
		}
		rows := map[string]*StrategyMatch{}
		var order []string
		row := func(layer string) *StrategyMatch {
			if rows[layer] == nil {
				rows[layer] = &StrategyMatch{Key: key, Layer: layer}
				order = append(order, layer)
			}
			return rows[layer]
		}
		for _, group := range after {
			row(group.Layer).After = new(int)
		}
		for _, group := range before {
			row(group.Layer).Before = new(int)
		}
		for i := range b.in.Nodes {
			node := &b.in.Nodes[i]
			was, _ := b.in.Old.GroupOf(key, node)
			is, others := b.in.New.GroupOf(key, node)
			*rows[before[was].Layer].Before++
			match := rows[after[is].Layer]
			*match.After++
			match.Names = append(match.Names, node.Name)
			for _, other := range others {
				rows[after[other].Layer].Shadowed++
			}
		}
		for _, layer := range order {
			slices.Sort(rows[layer].Names)
			b.plan.Strategies = append(b.plan.Strategies, *rows[layer])
		}
	}
}
