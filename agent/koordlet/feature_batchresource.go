package koordlet

import (
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// batchResourceFeature bounds batch and mid pods.
func batchResourceFeature() FeatureSpec {
	return FeatureSpec{
		Spec:   nodefeature.BatchResource,
		Kernel: []cgroup.Setting{cgroup.CPUShares, cgroup.CPUQuota, cgroup.MemoryLimit},
		Values: func(*featureBuild) qos.Feature { return qos.BatchResource{} },
	}
}
