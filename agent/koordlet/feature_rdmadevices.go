package koordlet

import (
	"koordinator.sh/koord/agent/diagnostics"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// rdmaCards is in /sys where there are cards.
const rdmaCards = "class/infiniband"

// rdmaDevicesFeature reports network cards with remote direct memory access.
func rdmaDevicesFeature() FeatureSpec {
	return FeatureSpec{
		Spec: nodefeature.RDMADevices,
		Status: func(e *explainer, on bool) diagnostics.FeatureStatus {
			return e.deviceReportStatus(nodefeature.RDMADevices.Name, e.missingRDMACards(), on)
		},
	}
}

// missingRDMACards is why there is nothing to report; empty where there is.
func (e *explainer) missingRDMACards() string {
	if cards, err := e.enforcement.sys.Directories(rdmaCards); err != nil || len(cards) == 0 {
		return "there is no network card in /sys/" + rdmaCards
	}
	return ""
}
