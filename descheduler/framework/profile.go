package framework

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	frameworktypes "sigs.k8s.io/descheduler/pkg/framework/types"

	"koordinator.sh/koord/descheduler/configuration"
	"koordinator.sh/koord/descheduler/pluginargs"
)

// profile is a profile with its plugins built.
type profile struct {
	name  string
	nodes labels.Selector
	// deschedule and balance run in this order.
	deschedule, balance []*instance
	// filters are the plugins of evict and filter; all must consent to an eviction.
	filters  []frameworktypes.EvictorPlugin
	migrator Migrator
}

// instance is a plugin of a profile.
type instance struct {
	frameworktypes.Plugin
	profile *profile
	evictor *evictor
}

// refusing is the first filter that does not consent; empty when all do.
func (p *profile) refusing(consents func(frameworktypes.EvictorPlugin) bool) string {
	for _, filter := range p.filters {
		if !consents(filter) {
			return filter.Name()
		}
	}
	return ""
}

// build makes the plugins of a profile.
func (d *Descheduler) build(ctx context.Context, index int, from *configuration.Profile, dryRun bool) (*profile, error) {
	p := &profile{name: from.Name, nodes: from.Nodes}
	built := map[string]*instance{}
	for _, name := range slices.Concat(from.Evict, from.Filter, from.Deschedule, from.Balance) {
		if built[name] != nil {
			continue
		}
		plugin, err := d.buildPlugin(ctx, p, fmt.Sprintf("%d-%s", index, name), name, from.Args[name], dryRun)
		if err != nil {
			return nil, fmt.Errorf("profile %s: build plugin %s: %w", from.Name, name, err)
		}
		built[name] = plugin
	}
	for _, name := range from.Evict {
		if migrator, ok := built[name].Plugin.(Migrator); ok && p.migrator == nil {
			p.migrator = migrator
		}
	}
	for _, name := range slices.Concat(from.Evict, from.Filter) {
		filter, ok := built[name].Plugin.(frameworktypes.EvictorPlugin)
		if !ok {
			return nil, fmt.Errorf("profile %s: plugin %s does not filter", from.Name, name)
		}
		if !slices.Contains(p.filters, filter) {
			p.filters = append(p.filters, filter)
		}
	}
	for _, name := range from.Deschedule {
		p.deschedule = append(p.deschedule, built[name])
	}
	for _, name := range from.Balance {
		p.balance = append(p.balance, built[name])
	}
	return p, nil
}

// buildPlugin makes one plugin. Its panic is an error.
func (d *Descheduler) buildPlugin(ctx context.Context, p *profile, id, name string, args runtime.Object, dryRun bool) (made *instance, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			klog.FromContext(ctx).Error(nil, "plugin panics when it is built", "plugin", name, "panic", cause, "stack", string(debug.Stack()))
			made, err = nil, fmt.Errorf("panic: %v", cause)
		}
	}()
	entry, ok := d.config.Registry[name]
	if !ok {
		return nil, fmt.Errorf("it is not registered")
	}
	e := &evictor{descheduler: d, profile: p, plugin: name}
	plugin, err := entry.PluginBuilder(ctx, args, &handle{descheduler: d, evictor: e, id: id + "-" + fingerprint(args), dryRun: dryRun})
	if err != nil {
		return nil, err
	}
	if plugin == nil {
		return nil, fmt.Errorf("there is no plugin")
	}
	return &instance{Plugin: plugin, profile: p, evictor: e}, nil
}

// fingerprint differs for different arguments.
func fingerprint(args runtime.Object) string {
	encoded, err := json.Marshal(pluginargs.Target(args))
	if err != nil {
		encoded = fmt.Appendf(nil, "%v", args)
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:4])
}
