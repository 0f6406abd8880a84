package configuration

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	frameworktypes "sigs.k8s.io/descheduler/pkg/framework/types"

	"koordinator.sh/koord/api/descheduler/v1alpha2"
	"koordinator.sh/koord/decision/core/suggest"
)

// The extension points by their names in the configuration.
const (
	deschedulePoint = "deschedule"
	balancePoint    = "balance"
	evictPoint      = "evict"
	filterPoint     = "filter"
)

// points are the extension points that a plugin has.
func points(plugin any) []string {
	var out []string
	if _, ok := plugin.(frameworktypes.DeschedulePlugin); ok {
		out = append(out, deschedulePoint)
	}
	if _, ok := plugin.(frameworktypes.BalancePlugin); ok {
		out = append(out, balancePoint)
	}
	if _, ok := plugin.(frameworktypes.EvictorPlugin); ok {
		out = append(out, evictPoint, filterPoint)
	}
	return out
}

func (r *reader) profile(decoded *v1alpha2.DeschedulerProfile, path *field.Path) Profile {
	plugins, in := v1alpha2.Plugins{}, path.Child("plugins")
	if decoded.Plugins != nil {
		plugins = *decoded.Plugins
	}
	profile := Profile{
		Name:       decoded.Name,
		Nodes:      r.selector(decoded.NodeSelector, path.Child("nodeSelector")),
		Deschedule: r.plugins(plugins.Deschedule, deschedulePoint, in),
		Balance:    r.plugins(plugins.Balance, balancePoint, in),
		Evict:      r.plugins(plugins.Evict, evictPoint, in, MigrationController),
		Filter:     r.plugins(plugins.Filter, filterPoint, in, MigrationController),
	}
	if len(profile.Evict) == 0 {
		r.report(field.Required(in.Child(evictPoint), "a profile without a plugin that evicts does nothing; the default is "+MigrationController))
	}
	configured := r.pluginConfig(decoded.PluginConfig, path.Child("pluginConfig"))
	profile.Args = map[string]runtime.Object{}
	for _, name := range slices.Concat(profile.Deschedule, profile.Balance, profile.Evict, profile.Filter) {
		if entry, ok := configured[name]; ok {
			profile.Args[name] = entry.args
			entry.used = true
		} else if _, ok := profile.Args[name]; !ok {
			profile.Args[name] = r.args(name, nil, path.Child("pluginConfig").Key(name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(configured)) {
		if entry := configured[name]; !entry.used {
			r.warn(entry.path, "has no effect: the profile does not enable %s", name)
		}
	}
	return profile
}

// plugins are the names of the plugins of an extension point.
func (r *reader) plugins(set v1alpha2.PluginSet, point string, path *field.Path, defaults ...string) []string {
	seen := map[string]bool{}
	for i, plugin := range set.Enabled {
		at := path.Child(point, "enabled").Index(i).Child("name")
		if seen[plugin.Name] {
			r.report(field.Duplicate(at, plugin.Name))
		}
		seen[plugin.Name] = true
		if has := points(r.registry[plugin.Name].PluginType); r.known(plugin.Name, at) && !slices.Contains(has, point) {
			r.report(field.Invalid(at, plugin.Name, fmt.Sprintf("the plugin has no extension point %s, only %v", point, has)))
		}
	}
	for i, plugin := range set.Disabled {
		if plugin.Name != "*" {
			r.known(plugin.Name, path.Child(point, "disabled").Index(i).Child("name"))
		}
	}
	names := enabled(set, defaults...)
	for _, name := range defaults {
		if slices.Contains(names, name) && !seen[name] {
			r.known(name, path.Child(point))
		}
	}
	return names
}

// known reports a plugin that is not registered, with the one that was meant.
func (r *reader) known(name string, path *field.Path) bool {
	if _, ok := r.registry[name]; ok {
		return true
	}
	names := slices.Sorted(maps.Keys(r.registry))
	if name == "" {
		r.report(field.Required(path, "the name of a plugin"))
	} else if near := suggest.Nearest(name, names); near != "" {
		r.report(field.Invalid(path, name, fmt.Sprintf("there is no such plugin; did you mean %q?", near)))
	} else {
		r.report(field.NotSupported(path, name, names))
	}
	return false
}
