package koordlet

import (
	"koordinator.sh/koord/agent/diagnostics"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// gpuInjectFeature gives containers the GPUs that the scheduler allocated.
func gpuInjectFeature() FeatureSpec {
	return FeatureSpec{
		Spec: nodefeature.GPUEnvInject,
		Status: func(e *explainer, on bool) diagnostics.FeatureStatus {
			missing := ""
			if !e.enforcement.proc.Exists(nvidiaVersion) {
				missing = "the NVIDIA driver is not loaded"
			}
			return e.deviceInjectStatus(nodefeature.GPUEnvInject.Name, schedulingv1alpha1.GPU, missing, on)
		},
	}
}
