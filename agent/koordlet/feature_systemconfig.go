package koordlet

import (
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// systemConfigFeature sets parameters of the machine.
func systemConfigFeature() FeatureSpec {
	return FeatureSpec{
		Spec:        nodefeature.SystemConfig,
		EveryKernel: true,
		Values:      func(*featureBuild) qos.Feature { return qos.SystemConfig{} },
	}
}
