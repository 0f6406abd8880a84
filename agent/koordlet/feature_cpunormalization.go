package koordlet

import (
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// cpuNormalizationFeature scales quotas, and nothing else.
func cpuNormalizationFeature() FeatureSpec {
	return FeatureSpec{
		Spec:   nodefeature.CPUNormalization,
		Kernel: []cgroup.Setting{cgroup.CPUQuota},
		Values: func(*featureBuild) qos.Feature { return qos.CPUNormalization{} },
	}
}
