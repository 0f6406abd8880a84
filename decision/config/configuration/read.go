package configuration

import (
	"fmt"
	"strconv"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/configmerge"
)

// SettingInForce is one value of the configuration in force.
type SettingInForce struct {
	// Key of the ConfigMap, and Path inside the strategy.
	Key  string `json:"key"`
	Path string `json:"path"`
	// Value as text.
	Value string `json:"value"`
	// Layer it comes from: default, cluster, node strategy NAME, node annotation, node label.
	Layer string `json:"layer"`
	// Strategy it holds for: cluster, node strategy NAME, or the node that was asked for.
	Strategy string `json:"strategy"`
}

// Read lists the settings in force at and below a path: the cluster's, or those of the node strategy that the path names.
// For a whole key, what its node strategies set themselves follows.
func Read(config configmerge.Config, path KeyPath) ([]SettingInForce, error) {
	groups := config.Groups(path.Key)
	layout, _ := configmerge.LayoutOf(path.Key)
	cluster := groups[len(groups)-1]
	if len(path.segments) == 0 {
		out := settingsOf(path.Key, cluster, "", false)
		for _, group := range groups[:len(groups)-1] {
			out = append(out, settingsOf(path.Key, group, "", true)...)
		}
		return out, nil
	}
	chosen := cluster
	if path.segments[0].text == layout.NodesField && path.strategy > 0 {
		group, err := groupNamed(groups[:len(groups)-1], path)
		if err != nil {
			return nil, err
		}
		chosen = group
	}
	out := settingsOf(path.Key, chosen, path.InStrategy(), false)
	if len(out) == 0 {
		if _, err := Explain(path); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func groupNamed(groups []configmerge.Group, path KeyPath) (configmerge.Group, error) {
	if path.strategy < 2 {
		return configmerge.Group{}, fmt.Errorf("%s: select a strategy by name: %s[NAME]", path, path)
	}
	wanted := path.segments[1].text
	var names []string
	for i, group := range groups {
		name := strings.TrimPrefix(group.Layer, nodeStrategy)
		if name == wanted || fmt.Sprint(i) == wanted {
			return group, nil
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return configmerge.Group{}, fmt.Errorf("%s: there are no node strategies", path)
	}
	return configmerge.Group{}, fmt.Errorf("%s: no node strategy is named %q; the names are %s", path, wanted, strings.Join(names, ", "))
}

func settingsOf(key string, group configmerge.Group, below string, own bool) []SettingInForce {
	var out []SettingInForce
	for _, setting := range group.Settings {
		if own && setting.Layer != group.Layer || !atOrBelow(setting.Key, below) {
			continue
		}
		out = append(out, SettingInForce{Key: key, Path: setting.Key, Value: setting.Value, Layer: setting.Layer, Strategy: group.Layer})
	}
	return out
}

// atOrBelow compares paths of settings; names of fields match in any case, as everywhere in the configuration.
func atOrBelow(path, below string) bool {
	if below == "" || strings.EqualFold(path, below) {
		return true
	}
	if len(path) <= len(below) || !strings.EqualFold(path[:len(below)], below) {
		return false
	}
	return path[len(below)] == '.' || path[len(below)] == '['
}

// ReadNode lists the settings in force on a node at and below a path, from what was merged for it.
func ReadNode(path KeyPath, node string, settings []diagnosticsv1alpha1.Setting) []SettingInForce {
	group := configmerge.Group{Layer: node, Settings: settings}
	return settingsOf(path.Key, group, path.InStrategy(), false)
}

// nodeStrategy is before the name of a node strategy in the name of its layer; one without a name has # and its number there.
const nodeStrategy = "node strategy "

// Name is the key path of the value, by which it is read and set: that of the node strategy where it holds for one.
func (s *SettingInForce) Name() string {
	name, own := strings.CutPrefix(s.Strategy, nodeStrategy)
	if !own {
		return JoinKey(s.Key, s.Path)
	}
	if number, err := strconv.Atoi(strings.TrimPrefix(name, "#")); err == nil && name[0] == '#' {
		name = strconv.Itoa(number - 1)
	}
	layout, _ := configmerge.LayoutOf(s.Key)
	return JoinKey(s.Key, fmt.Sprintf("%s[%s].%s", layout.NodesField, name, s.Path))
}
