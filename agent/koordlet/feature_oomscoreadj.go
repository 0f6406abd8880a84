package koordlet

import (
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// oomScoreFeature sets oom_score_adj.
func oomScoreFeature() FeatureSpec {
	return FeatureSpec{
		Spec:        nodefeature.OOMScoreAdj,
		EveryKernel: true,
		Values:      func(*featureBuild) qos.Feature { return &qos.OOMScoreAdj{} },
	}
}
