package koordlet

import (
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// groupIdentityFeature ranks pods on a CPU.
func groupIdentityFeature() FeatureSpec {
	return FeatureSpec{
		Spec:   nodefeature.GroupIdentity,
		Kernel: []cgroup.Setting{cgroup.CPUBvt, cgroup.CPUIdle},
		Values: func(*featureBuild) qos.Feature { return qos.GroupIdentity{} },
	}
}
