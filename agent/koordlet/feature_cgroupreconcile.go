package koordlet

import (
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// memoryQoSFeature protects and bounds memory.
func memoryQoSFeature() FeatureSpec {
	return FeatureSpec{
		Spec:   nodefeature.CgroupReconcile,
		Kernel: []cgroup.Setting{cgroup.MemoryMin, cgroup.MemoryLow, cgroup.MemoryHigh, cgroup.WmarkRatio},
		Values: func(*featureBuild) qos.Feature { return qos.MemoryQoS{Reclaim: qos.NewReclaimer()} },
	}
}
