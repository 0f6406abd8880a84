package live

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/layering"
	"koordinator.sh/koord/decision/schedulerconfig"
)

const (
	strategyConfig = "slo-controller-config"
	// lastGoodConfig keeps the texts in force of every key that the manager was able to read.
	lastGoodConfig  = strategyConfig + "-last-good"
	schedulerConfig = configuration.SchedulerConfigMapName
)

// schedulerDefaults is what follows when the scheduler's configuration could not be read.
const schedulerDefaults = "the defaults of load-aware scheduling and of elastic quotas are assumed"

// schedulerSettings is what of the scheduler's configuration matters to an answer.
type schedulerSettings struct {
	schedulerconfig.Settings
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
		return schedulerSettings{problem: text(err, schedulerDefaults)}, nil
	case err != nil:
		return schedulerSettings{}, err
	}
	found, err := schedulerconfig.Read(config.Data)
	if err != nil {
		return schedulerSettings{problem: fmt.Sprintf("configmap %s/%s: %v; %s", s.options.SystemNamespace, schedulerConfig, err, schedulerDefaults)}, nil
	}
	return schedulerSettings{Settings: found}, nil
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
