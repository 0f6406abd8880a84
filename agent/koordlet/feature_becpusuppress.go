package koordlet

import (
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// suppressionFeature holds best-effort pods to the CPU that services leave.
func suppressionFeature() FeatureSpec {
	return FeatureSpec{
		Spec:   nodefeature.BECPUSuppress,
		Kernel: []cgroup.Setting{cgroup.CPUSet, cgroup.CPUQuota},
		Values: func(b *featureBuild) qos.Feature { return b.suppression },
	}
}
