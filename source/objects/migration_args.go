package objects

import (
	"encoding/json"
	"fmt"

	"sigs.k8s.io/yaml"

	"koordinator.sh/koord/api/descheduler/v1alpha2"
	"koordinator.sh/koord/decision/descheduling/migration"
)

// MigrationArgs reads the arguments of the MigrationController from a DeschedulerConfiguration, with defaults. The first profile that has
// some counts. With an error, the defaults are returned.
func MigrationArgs(text string) (*migration.Args, error) {
	var config v1alpha2.DeschedulerConfiguration
	if err := yaml.Unmarshal([]byte(text), &config); err != nil {
		return migration.DefaultArgs(), fmt.Errorf("read the DeschedulerConfiguration: %w", err)
	}
	for i := range config.Profiles {
		for _, plugin := range config.Profiles[i].PluginConfig {
			if plugin.Name != migration.PluginName || len(plugin.Args.Raw) == 0 {
				continue
			}
			args := &migration.Args{}
			if err := json.Unmarshal(plugin.Args.Raw, args); err != nil {
				return migration.DefaultArgs(), fmt.Errorf("read the arguments of %s in profile %q: %w", migration.PluginName, config.Profiles[i].Name, err)
			}
			migration.SetDefaults(args)
			return args, nil
		}
	}
	return migration.DefaultArgs(), nil
}
