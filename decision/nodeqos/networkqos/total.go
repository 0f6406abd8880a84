package networkqos

import (
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// TotalOf is the bandwidth of a node, and where it is from: what the configuration says, else the annotation of the Node, else the
// speed of the network card. 0 is not known.
func TotalOf(system *slov1alpha1.SystemStrategy, annotation string, card Rate) (Rate, string) {
	if system != nil && system.TotalNetworkBandwidth != nil && system.TotalNetworkBandwidth.Sign() > 0 {
		return Rate(system.TotalNetworkBandwidth.Value()), "configuration"
	}
	if annotation != "" {
		if rate, err := parse(annotation); err == nil && rate > 0 {
			return rate, "annotation"
		}
	}
	if card > 0 {
		return card, "network card"
	}
	return 0, ""
}
