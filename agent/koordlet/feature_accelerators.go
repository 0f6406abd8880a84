package koordlet

import (
	"fmt"

	"koordinator.sh/koord/agent/diagnostics"
	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/agent/host/device"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// nvidiaVersion is in /proc where the driver is loaded.
const nvidiaVersion = "driver/nvidia/version"

// acceleratorsFeature reports GPUs and what other daemons list.
func acceleratorsFeature() FeatureSpec {
	return FeatureSpec{
		Spec: nodefeature.Accelerators,
		Status: func(e *explainer, on bool) diagnostics.FeatureStatus {
			return e.deviceReportStatus(nodefeature.Accelerators.Name, e.missingAccelerators(), on)
		},
	}
}

// missingAccelerators is why there is nothing to report; empty where there is.
func (e *explainer) missingAccelerators() string {
	if listed, err := device.XPUs(e.options.AcceleratorDirectory, host.Topology{}); len(listed) > 0 || err != nil {
		return ""
	}
	if !e.enforcement.proc.Exists(nvidiaVersion) {
		return fmt.Sprintf("no accelerator is listed in %s, and the NVIDIA driver is not loaded", e.options.AcceleratorDirectory)
	}
	return ""
}
