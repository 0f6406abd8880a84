package qos

import (
	"cmp"

	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host/parameter"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
	"koordinator.sh/koord/decision/nodeqos/sysctl"
)

// SystemConfig sets parameters of the whole machine.
type SystemConfig struct{}

// Name implements Feature.
func (SystemConfig) Name() string { return nodefeature.SystemConfig.Name }

// DesiredValues implements Feature. What the strategy does not set, or the kernel does not have, is not wanted.
func (SystemConfig) DesiredValues(in NodeSnapshot) []executor.DesiredValue {
	var values []executor.DesiredValue
	for _, setting := range sysctl.Of(in.SLO.SystemStrategy, in.Capacity.Memory).Settings {
		for _, found := range parameter.Find(setting) {
			if found.Supported(in.Proc, in.Sys) {
				values = append(values, executor.DesiredValue{Setting: found, Value: setting.Value, Why: cmp.Or(setting.Note, "by systemStrategy")})
				break
			}
		}
	}
	return values
}
