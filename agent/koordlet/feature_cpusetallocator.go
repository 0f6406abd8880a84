package koordlet

import (
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// cpuSetAllocatorFeature puts pods on their CPUs.
func cpuSetAllocatorFeature() FeatureSpec {
	return FeatureSpec{
		Spec:   nodefeature.CPUSetAllocator,
		Kernel: []cgroup.Setting{cgroup.CPUSet},
		Values: func(*featureBuild) qos.Feature { return qos.CPUSetAllocator{} },
	}
}
