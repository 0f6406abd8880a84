package configuration

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/descheduler/pkg/framework/plugins/podlifetime"

	"koordinator.sh/koord/descheduler/podcache"
)

// ReadsNormalConditions is true if a profile selects pods by conditions that are true for every pod that runs, which are not cached
// otherwise.
func (c *Configuration) ReadsNormalConditions() bool {
	for i := range c.Profiles {
		args, ok := c.Profiles[i].Args[podlifetime.PluginName].(*podlifetime.PodLifeTimeArgs)
		if !ok {
			continue
		}
		for _, selector := range args.Conditions {
			if podcache.Normal(corev1.PodConditionType(selector.Type), corev1.ConditionStatus(selector.Status)) {
				return true
			}
		}
	}
	return false
}
