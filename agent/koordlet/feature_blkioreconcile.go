package koordlet

import (
	"koordinator.sh/koord/agent/diagnostics"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// blkIOFeature bounds and weighs block I/O.
func blkIOFeature() FeatureSpec {
	return FeatureSpec{
		Spec:   nodefeature.BlkIOReconcile,
		Kernel: []cgroup.Setting{cgroup.IOReadBPS, cgroup.IOWeight, cgroup.IOBFQWeight, cgroup.IOLatency},
		Values: func(*featureBuild) qos.Feature { return &qos.BlkIOReconcile{} },
		Result: func(made qos.Feature) any { return made.(*qos.BlkIOReconcile).Problems() },
		Status: func(e *explainer, _ bool) diagnostics.FeatureStatus {
			return diagnostics.FeatureStatus{Problems: resultOf[[]string](&e.enforcement.results, nodefeature.BlkIOReconcile)}
		},
	}
}
