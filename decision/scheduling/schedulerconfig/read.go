package schedulerconfig

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"koordinator.sh/koord/decision/scheduling/loadaware"
	"koordinator.sh/koord/decision/scheduling/quota"
)

// Settings is what a scheduler's configuration says.
type Settings struct {
	// Profiles by name; none where there is no configuration.
	Profiles []string
	// LoadAware and Quotas are the arguments of the first profile that has any; nil are the defaults.
	LoadAware *loadaware.Args
	Quotas    *quota.Args
}

// document is the part of a KubeSchedulerConfiguration that is read here.
type document struct {
	Kind     string `json:"kind"`
	Profiles []struct {
		SchedulerName string `json:"schedulerName"`
		PluginConfig  []struct {
			Name string          `json:"name"`
			Args json.RawMessage `json:"args"`
		} `json:"pluginConfig"`
	} `json:"profiles"`
}

// Read finds the scheduler's configuration among the data of its ConfigMap. The error names the key that cannot be read.
func Read(data map[string]string) (Settings, error) {
	for _, key := range slices.Sorted(maps.Keys(data)) {
		found, err := read(data[key])
		if err != nil {
			return Settings{}, fmt.Errorf("read key %q: %w", key, err)
		}
		if len(found.Profiles) > 0 {
			return found, nil
		}
	}
	return Settings{}, nil
}

func read(text string) (Settings, error) {
	var config document
	found := Settings{}
	encoded, err := yaml.ToJSON([]byte(text))
	if err == nil {
		err = json.Unmarshal(encoded, &config)
	}
	if err != nil || config.Kind != "KubeSchedulerConfiguration" {
		return found, err
	}
	for _, profile := range config.Profiles {
		found.Profiles = append(found.Profiles, cmp.Or(profile.SchedulerName, corev1.DefaultSchedulerName))
		for _, plugin := range profile.PluginConfig {
			if err := found.plugin(plugin.Name, plugin.Args); err != nil {
				return Settings{}, err
			}
		}
	}
	return found, nil
}

// plugin reads the arguments of a plugin that matters here.
func (s *Settings) plugin(name string, raw json.RawMessage) (err error) {
	object := &runtime.Unknown{Raw: raw, ContentType: runtime.ContentTypeJSON}
	switch {
	case name == loadaware.PluginName && s.LoadAware == nil:
		s.LoadAware, err = loadaware.DecodeArgs(object)
	case name == quota.PluginName && s.Quotas == nil:
		s.Quotas, err = quota.DecodeArgs(object)
	}
	return err
}
