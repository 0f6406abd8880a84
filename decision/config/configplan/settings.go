package configplan

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/configmerge"
)

// SettingChange is one setting before and after; empty is unset.
type SettingChange struct {
	// Key of the ConfigMap, and Path inside the strategy.
	Key  string `json:"key"`
	Path string `json:"path"`
	// Old and New value.
	Old string `json:"old,omitempty"`
	New string `json:"new,omitempty"`
	// OldLayer and NewLayer say where they come from: default, cluster, node strategy NAME.
	OldLayer string `json:"oldLayer,omitempty"`
	NewLayer string `json:"newLayer,omitempty"`
	// Field that is written for it: of NodeSLO, NodeMetric or the node.
	Field string `json:"field,omitempty"`
}

// NodeGroup is nodes on which the same settings change.
type NodeGroup struct {
	// Nodes in the group.
	Nodes int `json:"nodes"`
	// Names of all of them, ordered.
	Names []string `json:"names"`
	// Changes of what is rendered for these nodes.
	Changes []SettingChange `json:"changes"`
	// Writes names the kinds of objects that would be written for these nodes.
	Writes []string `json:"writes"`
}

// SettingChanges compares two configurations by key and layer. What a node strategy inherits is not repeated in it.
func SettingChanges(old, next configmerge.Config) []SettingChange {
	var out []SettingChange
	for _, key := range configuration.Keys() {
		before, after := ownSettings(old.Groups(key)), ownSettings(next.Groups(key))
		layers := slices.Concat(before.order, after.order)
		seen := map[string]bool{}
		for _, layer := range layers {
			if seen[layer] {
				continue
			}
			seen[layer] = true
			out = append(out, diffSettings(key, before.of[layer], after.of[layer])...)
		}
	}
	return out
}

type layered struct {
	order []string
	of    map[string][]diagnosticsv1alpha1.Setting
}

// ownSettings are the settings of each layer that it sets itself, the cluster's first; of the cluster, the defaults too.
func ownSettings(groups []configmerge.Group) layered {
	out := layered{of: map[string][]diagnosticsv1alpha1.Setting{}}
	for _, group := range append(groups[len(groups)-1:], groups[:len(groups)-1]...) {
		var own []diagnosticsv1alpha1.Setting
		for _, setting := range group.Settings {
			if setting.Layer == group.Layer || group.Selector == nil {
				own = append(own, setting)
			}
		}
		if _, again := out.of[group.Layer]; again {
			continue
		}
		out.order, out.of[group.Layer] = append(out.order, group.Layer), own
	}
	return out
}

// diffSettings compares two lists that are ordered by key.
func diffSettings(key string, old, next []diagnosticsv1alpha1.Setting) []SettingChange {
	var out []SettingChange
	for len(old) > 0 || len(next) > 0 {
		order := 0
		switch {
		case len(old) == 0:
			order = 1
		case len(next) == 0:
			order = -1
		default:
			order = strings.Compare(old[0].Key, next[0].Key)
		}
		change := SettingChange{Key: key}
		if order <= 0 {
			change.Path, change.Old, change.OldLayer = old[0].Key, old[0].Value, old[0].Layer
			old = old[1:]
		}
		if order >= 0 {
			change.Path, change.New, change.NewLayer = next[0].Key, next[0].Value, next[0].Layer
			next = next[1:]
		}
		if change.Old != change.New || (change.OldLayer == "") != (change.NewLayer == "") {
			change.Field = fieldOf(key, change.Path)
			out = append(out, change)
		}
	}
	return out
}

// sloFields are the parts of a NodeSLO that keys are rendered into.
var sloFields = map[string]string{
	configuration.ResourceThresholdConfigKey: "spec.resourceUsedThresholdWithBE",
	configuration.ResourceQOSConfigKey:       "spec.resourceQOSStrategy",
	configuration.CPUBurstConfigKey:          "spec.cpuBurstStrategy",
	configuration.SystemConfigKey:            "spec.systemStrategy",
	configuration.HostApplicationConfigKey:   "spec.hostApplications",
}

// metricFields are the settings of co-location that are rendered into NodeMetrics.
var metricFields = map[string]string{
	"metricAggregateDurationSeconds":  "aggregateDurationSeconds",
	"metricReportIntervalSeconds":     "reportIntervalSeconds",
	"metricAggregatePolicy.durations": "nodeAggregatePolicy.durations",
	"metricMemoryCollectPolicy":       "nodeMemoryCollectPolicy",
}

// fieldOf names the object and field that a setting ends up in.
func fieldOf(key, path string) string {
	if part, ok := sloFields[key]; ok {
		if key == configuration.HostApplicationConfigKey {
			return "NodeSLO." + part
		}
		return "NodeSLO." + part + "." + path
	}
	if part, ok := metricFields[path]; ok && key == configuration.ColocationConfigKey {
		return "NodeMetric.spec.metricCollectPolicy." + part
	}
	switch key {
	case configuration.CPUNormalizationConfigKey:
		return "Node.metadata.annotations[node.koordinator.sh/cpu-normalization-ratio]"
	case configuration.ResourceAmplificationConfigKey:
		return "Node.metadata.annotations[node.koordinator.sh/resource-amplification-ratio]"
	}
	return "Node.status.allocatable"
}

// groupDiff is the changes of all keys for nodes of one combination of groups.
type groupDiff struct {
	changes []SettingChange
	// colocation and threshold say whether settings of these keys change.
	colocation, threshold bool
	// ratios says whether cpu normalization or amplification changes.
	ratios bool
}

func (d *groupDiff) empty() bool { return len(d.changes) == 0 }

func (d *groupDiff) group(names []string) NodeGroup {
	out := NodeGroup{Nodes: len(names), Names: names, Changes: d.changes}
	for _, change := range d.changes {
		kind, _, _ := strings.Cut(change.Field, ".")
		if !slices.Contains(out.Writes, kind) {
			out.Writes = append(out.Writes, kind)
		}
	}
	return out
}

func (d *groupDiff) writes(kind string) bool {
	return slices.ContainsFunc(d.changes, func(c SettingChange) bool { return strings.HasPrefix(c.Field, kind+".") })
}

// diffs finds the changes of nodes, once for every combination of groups. It is safe for concurrent use.
type diffs struct {
	old, next configmerge.Config
	mu        sync.Mutex
	known     map[string]*groupDiff
}

func newDiffs(old, next configmerge.Config) *diffs {
	return &diffs{old: old, next: next, known: map[string]*groupDiff{}}
}

func (d *diffs) of(node *corev1.Node) *groupDiff {
	keys := configuration.Keys()
	indices := make([][2]int, len(keys))
	for i, key := range keys {
		indices[i][0], _ = d.old.GroupOf(key, node)
		indices[i][1], _ = d.next.GroupOf(key, node)
	}
	// A node's own annotation and labels stand above both configurations and may hide a change.
	var own []SettingChange
	name := fmt.Sprint(indices)
	before, after := d.old.Colocation(node), d.next.Colocation(node)
	special := hasOwnLayer(after.Settings)
	if special {
		own = diffSettings(configuration.ColocationConfigKey, before.Settings, after.Settings)
		name += fmt.Sprint(own)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if known, ok := d.known[name]; ok {
		return known
	}
	diff := &groupDiff{}
	for i, key := range keys {
		changes := own
		if !special || key != configuration.ColocationConfigKey {
			changes = diffSettings(key, d.old.Groups(key)[indices[i][0]].Settings, d.next.Groups(key)[indices[i][1]].Settings)
		}
		diff.colocation = diff.colocation || key == configuration.ColocationConfigKey && len(changes) > 0
		diff.threshold = diff.threshold || key == configuration.ResourceThresholdConfigKey && len(changes) > 0
		diff.ratios = diff.ratios || len(changes) > 0 && (key == configuration.CPUNormalizationConfigKey || key == configuration.ResourceAmplificationConfigKey)
		diff.changes = append(diff.changes, changes...)
	}
	// Different strategies may mean the same: such nodes are one group.
	same := fmt.Sprint(diff.changes)
	if known, ok := d.known[same]; ok {
		diff = known
	}
	d.known[same], d.known[name] = diff, diff
	return diff
}

func hasOwnLayer(settings []diagnosticsv1alpha1.Setting) bool {
	return slices.ContainsFunc(settings, func(s diagnosticsv1alpha1.Setting) bool {
		return s.Layer == configmerge.LayerNodeAnnotation || s.Layer == configmerge.LayerNodeLabel
	})
}
