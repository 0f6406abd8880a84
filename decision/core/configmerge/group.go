package configmerge

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// Group is what one key means for a set of nodes: those of one node strategy, or those that match none.
type Group struct {
	// Layer names the group: cluster, or node strategy NAME.
	Layer string
	// Path of the strategy in the key's JSON, such as clusterStrategy or nodeConfigs[0]; empty where it is the whole
	// document.
	Path string
	// Selector of the nodes; nil for the cluster's group.
	Selector labels.Selector
	// Settings are the merged values with the layer each came from, ordered by key. They are shared: do not modify them.
	Settings []diagnosticsv1alpha1.Setting
}

// Groups lists what a key means, the node strategies in their order and the cluster last. An unknown key has none.
func (c Config) Groups(key string) []Group {
	found, ok := c.sections[key]
	if !ok {
		return nil
	}
	s := sectionOf(key)
	groups := make([]Group, 0, len(found.entries)+1)
	for i, entry := range found.entries {
		groups = append(groups, Group{
			Layer: entry.layer, Path: indexPath(s.nodesField, i), Selector: entry.selector, Settings: found.rendered[i].settings,
		})
	}
	return append(groups, Group{Layer: LayerCluster, Path: s.clusterField, Settings: found.rendered[len(found.entries)].settings})
}

// GroupOf is the index in Groups of the group that a node belongs to, and the indices of the node strategies that select
// it too and do not take effect.
func (c Config) GroupOf(key string, node *corev1.Node) (index int, others []int) {
	found, ok := c.sections[key]
	if !ok {
		return 0, nil
	}
	index = len(found.entries)
	for i := range found.entries {
		switch {
		case !found.entries[i].selector.Matches(labels.Set(node.Labels)):
		case index == len(found.entries):
			index = i
		default:
			others = append(others, i)
		}
	}
	return index, others
}

// Layout is where the strategies stand in a key's JSON.
type Layout struct {
	// Key of the ConfigMap.
	Key string
	// ClusterField holds the cluster's strategy; empty when its fields stand at the top.
	ClusterField string
	// NodesField holds the node strategies.
	NodesField string
}

// LayoutOf is the layout of a key, and false for one that does not exist.
func LayoutOf(key string) (Layout, bool) {
	s := sectionOf(key)
	return Layout{Key: s.key, ClusterField: s.clusterField, NodesField: s.nodesField}, s.key != ""
}

func sectionOf(key string) section {
	all := sections()
	if i := slices.IndexFunc(all, func(s section) bool { return s.key == key }); i >= 0 {
		return all[i]
	}
	return section{}
}

// Place is where a value stands in a text, from 1.
type Place struct{ Line, Column int }

// Places finds where the value of every path stands in a key's JSON; a text that cannot be read has none.
func Places(text string) map[string]Place {
	doc, err := parseDocument(text)
	if err != nil {
		return nil
	}
	out := make(map[string]Place, len(doc.starts))
	for path, start := range doc.starts {
		line, column := position(text, start)
		out[path] = Place{Line: line, Column: column}
	}
	return out
}

// JoinPath appends a path of a strategy to the path the strategy stands at.
func JoinPath(path, below string) string {
	switch {
	case path == "":
		return below
	case below == "" || below[0] == '[':
		return path + below
	}
	return path + "." + below
}
