package koordlet

import (
	"koordinator.sh/koord/agent/diagnostics"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// rdmaManager is in /sys where the kernel has the connection manager for user space.
const rdmaManager = "class/misc/rdma_cm"

// rdmaInjectFeature gives containers the RDMA devices that the scheduler allocated.
func rdmaInjectFeature() FeatureSpec {
	return FeatureSpec{
		Spec: nodefeature.RDMADeviceInject,
		Status: func(e *explainer, on bool) diagnostics.FeatureStatus {
			missing := e.missingRDMACards()
			if missing == "" && !e.enforcement.sys.Exists(rdmaManager) {
				missing = "the kernel module rdma_ucm is not loaded"
			}
			return e.deviceInjectStatus(nodefeature.RDMADeviceInject.Name, schedulingv1alpha1.RDMA, missing, on)
		},
	}
}
