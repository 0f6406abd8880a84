package configuration

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"koordinator.sh/koord/api/descheduler/v1alpha2"
	"koordinator.sh/koord/decision/descheduling/migration"
	"koordinator.sh/koord/decision/descheduling/rebalance"
	"koordinator.sh/koord/descheduler/pluginargs"
)

// MigrationController is the plugin that evicts and filters unless a profile disables it.
const MigrationController = "MigrationController"

// Configuration is a valid configuration with its defaults.
type Configuration struct {
	// DeschedulerConfiguration as it was written, with defaults.
	v1alpha2.DeschedulerConfiguration
	// Interval is the time from the start of one pass to that of the next; 0 for a single pass.
	Interval time.Duration
	// Nodes selects the nodes that are looked at.
	Nodes labels.Selector
	// Limits of one pass.
	Limits Limits
	// Profiles in their order.
	Profiles []Profile
	// Warnings are about what is valid and has no effect.
	Warnings []string
}

// Migration returns the arguments of MigrationController: those of the first profile that evicts with it, and the defaults where none does.
// One controller carries out the jobs of all profiles, and of users.
func (c *Configuration) Migration() *migration.Args {
	for _, profile := range c.Profiles {
		if args, err := pluginargs.Of[migration.Args](profile.Args[MigrationController]); err == nil && args != nil {
			return args
		}
	}
	return migration.DefaultArgs()
}

// HistoryWindow is how long moves count for whether a workload goes in circles: the longest historyWindow of a profile that enables
// LoadAwareRebalancing, and its default where none does.
func (c *Configuration) HistoryWindow() time.Duration {
	var enabled []*rebalance.Args
	for i := range c.Profiles {
		profile := &c.Profiles[i]
		if args, err := pluginargs.Of[rebalance.Args](profile.Args[rebalance.PluginName]); err == nil && slices.Contains(profile.Balance, rebalance.PluginName) {
			enabled = append(enabled, args)
		}
	}
	return rebalance.LongestHistory(enabled)
}

// Limits bound the evictions of one pass over all profiles; nil is no bound.
type Limits struct {
	PerNode, PerNamespace, Total *int64
}

// Profile is a profile with its plugins by extension point, defaults included.
type Profile struct {
	// Name of the profile.
	Name string
	// Nodes selects among the nodes of the configuration.
	Nodes labels.Selector
	// Deschedule, Balance, Evict and Filter are the names of the plugins of each extension point, in their order.
	Deschedule, Balance, Evict, Filter []string
	// Args of all these plugins, by name.
	Args map[string]runtime.Object
}
