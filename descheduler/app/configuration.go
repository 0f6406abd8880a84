package app

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"koordinator.sh/koord/decision/descheduling/migration"
	"koordinator.sh/koord/decision/descheduling/rebalance"
	"koordinator.sh/koord/descheduler/arbitrator"
	"koordinator.sh/koord/descheduler/configuration"
	"koordinator.sh/koord/descheduler/pluginargs"
	"koordinator.sh/koord/descheduler/plugins"
)

// configured is the configuration in force, and what it is applied to once this replica leads.
type configured struct {
	store *configuration.Store
	// dryRun is the flag, which wins over the configuration.
	dryRun bool
	// apply is nil before this replica leads.
	apply atomic.Pointer[func(context.Context, *configuration.Configuration) error]
}

// loadConfiguration reads the file, which must be valid, and reports everything that is wrong with it at once.
func loadConfiguration(ctx context.Context, options *Options, registerer prometheus.Registerer) (*configured, error) {
	c := &configured{dryRun: options.DryRun}
	var err error
	c.store, err = configuration.Load(ctx, configuration.Options{
		Path: options.ConfigFile, Registry: plugins.Registry(plugins.Sources{}), Apply: c.put, Registerer: registerer,
	})
	return c, err
}

// put puts a configuration that was read again into force.
func (c *configured) put(ctx context.Context, next *configuration.Configuration) error {
	if apply := c.apply.Load(); apply != nil {
		return (*apply)(ctx, c.flagged(next))
	}
	return nil
}

// current is the configuration in force.
func (c *configured) current() *configuration.Configuration { return c.flagged(c.store.Current()) }

// flagged is a configuration with the flags on top.
func (c *configured) flagged(from *configuration.Configuration) *configuration.Configuration {
	if !c.dryRun || from.DryRun {
		return from
	}
	flagged := *from
	flagged.DryRun = true
	return &flagged
}

// migration returns the arguments of MigrationController in force.
func (c *configured) migration() *migration.Args { return c.store.Current().Migration() }

// retention of migration jobs that ended: what counts, remembers or shows them looks back no further.
func (c *configured) retention() migration.Retention {
	current := c.store.Current()
	memories := []time.Duration{arbitrator.Memory(current.Migration())}
	for _, profile := range current.Profiles {
		if args, err := pluginargs.Of[rebalance.Args](profile.Args[rebalance.PluginName]); err == nil {
			memories = append(memories, args.HistoryWindow.Duration)
		}
	}
	return migration.RetentionOf(memories...)
}
