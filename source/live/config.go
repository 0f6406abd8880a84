package live

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/configmerge"
	"koordinator.sh/koord/decision/scheduling/schedulerconfig"
)

const (
	strategyConfig = "slo-controller-config"
	// lastGoodConfig keeps the texts in force of every key that the manager was able to read.
	lastGoodConfig  = strategyConfig + "-last-good"
	schedulerConfig = configuration.SchedulerConfigMapName
)

// schedulerSettings reads the scheduler's ConfigMap. Without one the defaults hold.
func (s *Source) schedulerSettings(ctx context.Context, c *clients) (schedulerconfig.Settings, error) {
	config := &corev1.ConfigMap{}
	err := c.get(ctx, "configmaps", s.options.SystemNamespace, schedulerConfig, config)
	switch {
	case hasCode(err, finding.NotFound):
		return schedulerconfig.Settings{}, nil
	case err != nil:
		return schedulerconfig.Settings{}, err
	}
	found, err := schedulerconfig.Read(config.Data)
	if err != nil {
		return schedulerconfig.Settings{}, fmt.Errorf("read configmap %s/%s: %w", s.options.SystemNamespace, schedulerConfig, err)
	}
	return found, nil
}

// strategies reads slo-controller-config as the manager does: a key that cannot be used keeps its last valid text. What is
// wrong with it is among the configuration's problems. With an error the configuration in force is unknown.
func (s *Source) strategies(ctx context.Context, c *clients) (configmerge.Config, error) {
	config := &corev1.ConfigMap{}
	err := c.get(ctx, "configmaps", s.options.SystemNamespace, strategyConfig, config)
	if hasCode(err, finding.NotFound) {
		last, err := s.lastGood(ctx, c)
		return configmerge.Gone(last), err
	}
	if err != nil {
		return configmerge.Default(), err
	}
	parsed, problems := configmerge.Parse(config.Data)
	if !slices.ContainsFunc(problems, configmerge.Problem.Rejects) {
		return parsed, nil
	}
	last, err := s.lastGood(ctx, c)
	return configmerge.KeepLastGood(last, parsed), err
}

// lastGood is what the manager keeps in force: the defaults where no manager ever read a valid text.
func (s *Source) lastGood(ctx context.Context, c *clients) (configmerge.Config, error) {
	kept := &corev1.ConfigMap{}
	if err := c.get(ctx, "configmaps", s.options.SystemNamespace, lastGoodConfig, kept); err != nil && !hasCode(err, finding.NotFound) {
		return configmerge.Default(), err
	}
	last, _ := configmerge.Parse(kept.Data)
	return last, nil
}
