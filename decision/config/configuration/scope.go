package configuration

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/configmerge"
)

// scope is the settings that hold together on some nodes: one group of every key.
type scope struct {
	v *validation
	// groups by key.
	groups map[string]configmerge.Group
	// values by key and path, filled in on first use.
	values map[string]map[string]diagnosticsv1alpha1.Setting
	// nodes the scope was found on; 0 when none were looked at. Members are these nodes.
	nodes   int
	members []*corev1.Node
}

// ref names a setting.
type ref struct{ key, path string }

// makeScopes finds which settings hold together: the cluster's, and those of every node strategy with the strategies of
// other keys that select the same nodes. With nodes, the combinations are those that occur.
func (v *validation) makeScopes() []*scope {
	keys := configuration.Keys()
	groups := map[string][]configmerge.Group{}
	base := make([]int, len(keys))
	for i, key := range keys {
		groups[key] = v.config.Groups(key)
		base[i] = len(groups[key]) - 1
	}
	members := map[string][]*corev1.Node{}
	order := [][]int{base}
	note := func(combination []int, nodes ...*corev1.Node) {
		name := fmt.Sprint(combination)
		if _, seen := members[name]; !seen && !slices.Equal(combination, base) {
			order = append(order, combination)
		}
		members[name] = append(members[name], nodes...)
	}
	if len(v.in.Nodes) > 0 {
		for _, node := range v.in.Nodes {
			combination := make([]int, len(keys))
			for i, key := range keys {
				combination[i], _ = v.config.GroupOf(key, node)
			}
			note(combination, node)
		}
	} else {
		for i, key := range keys {
			for entry := range base[i] {
				note(sameSelector(keys, groups, base, groups[key][entry]))
			}
		}
	}
	scopes := make([]*scope, 0, len(order))
	for _, combination := range order {
		on := members[fmt.Sprint(combination)]
		s := &scope{v: v, groups: map[string]configmerge.Group{}, values: map[string]map[string]diagnosticsv1alpha1.Setting{}, nodes: len(on), members: on}
		for i, key := range keys {
			s.groups[key] = groups[key][combination[i]]
		}
		scopes = append(scopes, s)
	}
	return scopes
}

// sameSelector combines the groups of all keys whose selector is the same as that of the given one.
func sameSelector(keys []string, groups map[string][]configmerge.Group, base []int, like configmerge.Group) []int {
	combination := slices.Clone(base)
	for i, key := range keys {
		for entry := range base[i] {
			if groups[key][entry].Selector.String() == like.Selector.String() {
				combination[i] = entry
				break
			}
		}
	}
	return combination
}

// get reads a setting in force.
func (s *scope) get(key, path string) (diagnosticsv1alpha1.Setting, bool) {
	values, ok := s.values[key]
	if !ok {
		values = map[string]diagnosticsv1alpha1.Setting{}
		for _, setting := range s.groups[key].Settings {
			values[setting.Key] = setting
		}
		s.values[key] = values
	}
	setting, ok := values[path]
	return setting, ok
}

// on says whether a switch is set to true.
func (s *scope) on(key, path string) bool {
	setting, _ := s.get(key, path)
	return setting.Value == "true"
}

// text of a setting; empty when it is not set.
func (s *scope) text(key, path string) string {
	setting, _ := s.get(key, path)
	return setting.Value
}

// number of a setting, and false when it is not set or no number.
func (s *scope) number(key, path string) (float64, bool) {
	setting, ok := s.get(key, path)
	if !ok {
		return 0, false
	}
	value, err := strconv.ParseFloat(setting.Value, 64)
	return value, err == nil
}

// chosen says whether somebody set a value, as opposed to the built-in default.
func (s *scope) chosen(key, path string) bool {
	setting, ok := s.get(key, path)
	return ok && setting.Layer != configmerge.LayerDefault
}

// shipped are the values of the chart that differ from the built-in defaults, by key and path. They are in a ConfigMap without a choice
// of the user.
var shipped = map[string]map[string]string{thresholdKey: {memoryEvictPath: "85"}}

// deviates says whether somebody set a value that is neither the built-in default nor what the chart ships.
func (s *scope) deviates(key, path string) bool {
	setting, _ := s.get(key, path)
	return s.chosen(key, path) && setting.Value != s.v.defaults[ref{key, path}] && setting.Value != shipped[key][path]
}

// under lists the chosen settings below a path, in their order.
func (s *scope) under(key, path string) []string {
	var out []string
	for _, setting := range s.groups[key].Settings {
		below := path == "" || setting.Key == path || strings.HasPrefix(setting.Key, path+".") || strings.HasPrefix(setting.Key, path+"[")
		if below && setting.Layer != configmerge.LayerDefault {
			out = append(out, setting.Key)
		}
	}
	return out
}

// place is the path of a setting in its key's JSON, by the layer it came from; empty for a default.
func (s *scope) place(r ref) string {
	setting, ok := s.get(r.key, r.path)
	if !ok || setting.Layer == configmerge.LayerDefault {
		return ""
	}
	layout, _ := configmerge.LayoutOf(r.key)
	if setting.Layer == configmerge.LayerCluster {
		return configmerge.JoinPath(layout.ClusterField, r.path)
	}
	return configmerge.JoinPath(s.groups[r.key].Path, r.path)
}

// evidence shows settings as a finding cites them, each once.
func (s *scope) evidence(refs ...ref) []Evidence {
	out := make([]Evidence, 0, len(refs))
	for i, r := range refs {
		if slices.Contains(refs[:i], r) {
			continue
		}
		setting, ok := s.get(r.key, r.path)
		if !ok {
			setting.Value = "unset"
		}
		e := Evidence{Key: r.key, Path: r.path, Value: setting.Value, Layer: setting.Layer}
		if at := s.place(r); at != "" {
			e.Line = s.v.places[r.key][at].Line
		}
		out = append(out, e)
	}
	return out
}

// layer names the most specific layer among settings.
func (s *scope) layer(refs ...ref) string {
	layer := configmerge.LayerCluster
	for _, r := range refs {
		setting, ok := s.get(r.key, r.path)
		if ok && setting.Layer != configmerge.LayerDefault && setting.Layer != configmerge.LayerCluster {
			layer = setting.Layer
		}
	}
	return layer
}
