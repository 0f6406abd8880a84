package live

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/layering"
	"koordinator.sh/koord/decision/loadaware"
)

const (
	strategyConfig = "slo-controller-config"
	// lastGoodConfig keeps the texts in force of every key that the manager was able to read.
	lastGoodConfig  = strategyConfig + "-last-good"
	schedulerConfig = "koord-scheduler-config"
)

// schedulerSettings is what of the scheduler's configuration matters to an answer.
type schedulerSettings struct {
	// args of load-aware scheduling; nil are the defaults.
	args *loadaware.Args
	// profiles by name; empty when unknown.
	profiles []string
	// problem says why the defaults are assumed; empty when the configuration was read.
	problem string
}

// schedulerSettings reads the scheduler's ConfigMap. Without one the defaults hold, and the answer says so.
func (s *Source) schedulerSettings(ctx context.Context, c *clients) (schedulerSettings, error) {
	config := &corev1.ConfigMap{}
	err := c.get(ctx, "configmaps", s.options.SystemNamespace, schedulerConfig, config)
	switch {
	case hasCode(err, finding.NotFound):
		return schedulerSettings{}, nil
	case hasCode(err, finding.Forbidden):
		return schedulerSettings{problem: text(err, "the defaults of load-aware scheduling are assumed")}, nil
	case err != nil:
		return schedulerSettings{}, err
	}
	for _, key := range slices.Sorted(maps.Keys(config.Data)) {
		found, err := parseSchedulerConfig(config.Data[key])
		if err != nil {
			return schedulerSettings{problem: fmt.Sprintf("read key %q of configmap %s/%s: %v; the defaults of load-aware scheduling are assumed",
				key, s.options.SystemNamespace, schedulerConfig, err)}, nil
		}
		if len(found.profiles) > 0 {
			return found, nil
		}
	}
	return schedulerSettings{}, nil
}

// schedulerDocument is the part of a KubeSchedulerConfiguration that is read here.
type schedulerDocument struct {
	Kind     string `json:"kind"`
	Profiles []struct {
		SchedulerName string `json:"schedulerName"`
		PluginConfig  []struct {
			Name string          `json:"name"`
			Args json.RawMessage `json:"args"`
		} `json:"pluginConfig"`
	} `json:"profiles"`
}

func parseSchedulerConfig(data string) (schedulerSettings, error) {
	var document schedulerDocument
	if err := yaml.Unmarshal([]byte(data), &document); err != nil {
		return schedulerSettings{}, err
	}
	found := schedulerSettings{}
	if document.Kind != "KubeSchedulerConfiguration" {
		return found, nil
	}
	for _, profile := range document.Profiles {
		found.profiles = append(found.profiles, cmp.Or(profile.SchedulerName, corev1.DefaultSchedulerName))
		for _, plugin := range profile.PluginConfig {
			if plugin.Name != loadaware.PluginName || found.args != nil {
				continue
			}
			args, err := loadaware.DecodeArgs(plugin.Args)
			if err != nil {
				return schedulerSettings{}, err
			}
			found.args = args
		}
	}
	return found, nil
}

// strategies reads slo-controller-config as the manager does: a key that cannot be used keeps its last good text. What is
// wrong with it is among the configuration's problems. With an error the configuration is still the best that is known.
func (s *Source) strategies(ctx context.Context, c *clients) (layering.Config, error) {
	config := &corev1.ConfigMap{}
	err := c.get(ctx, "configmaps", s.options.SystemNamespace, strategyConfig, config)
	if hasCode(err, finding.NotFound) {
		return layering.Default(layering.Missing()), nil
	}
	if err != nil {
		return layering.Default(), err
	}
	parsed, problems := layering.Parse(config.Data)
	if !slices.ContainsFunc(problems, layering.Problem.Rejects) {
		return parsed, nil
	}
	kept := &corev1.ConfigMap{}
	if err := c.get(ctx, "configmaps", s.options.SystemNamespace, lastGoodConfig, kept); err != nil {
		if hasCode(err, finding.NotFound) {
			return parsed, nil // no manager ever read a good text, so that the defaults are in force
		}
		return parsed, err
	}
	last, _ := layering.Parse(kept.Data)
	return layering.KeepLastGood(last, parsed), nil
}
