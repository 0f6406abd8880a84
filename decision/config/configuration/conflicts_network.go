package configuration

import (
	"fmt"
	"math"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/networkqos"
)

// networkClasses are the classes of resource-qos-config that share the bandwidth of a node.
var networkClasses = []string{"lsrClass", "lsClass", "beClass", "systemClass"}

// networkConflicts are classes that together are guaranteed more than the bandwidth that the configuration gives the node. Sums
// of percentages alone are judged without it, where the key is read.
func networkConflicts(s *scope) []conflict {
	total := bandwidth(s.text(systemKey, "totalNetworkBandwidth"), 0)
	if total <= 0 {
		return nil
	}
	var out []conflict
	for _, direction := range []string{"ingressRequest", "egressRequest"} {
		sum, inBits := networkqos.Rate(0), false
		var requests []ref
		for _, class := range networkClasses {
			request := ref{qosKey, class + ".networkQOS." + direction}
			text := s.text(request.key, request.path)
			if text == "" {
				continue
			}
			sum += bandwidth(text, total)
			inBits = inBits || !percentage(text)
			requests = append(requests, request)
		}
		if sum <= total || !inBits {
			continue
		}
		out = append(out, conflict{about: requests[0], with: append(requests[1:], ref{systemKey, "totalNetworkBandwidth"}),
			severity: diagnosticsv1alpha1.SeverityError,
			message: fmt.Sprintf("the classes' networkQOS.%s add up to %s bits per second, which is more than system-config.totalNetworkBandwidth (%s)",
				direction, bits(sum), bits(total)),
			cause: "The guarantees of all classes must fit into the bandwidth.",
			fix:   "Lower the requests, or raise system-config.totalNetworkBandwidth to the bandwidth of the network card."})
	}
	return out
}

// percentage says whether a setting is a number, which is percent, and not a text in bits per second. Settings show both bare;
// no request has so few bits.
func percentage(text string) bool {
	number, err := strconv.Atoi(text)
	return err == nil && number <= 100
}

// bandwidth reads a setting, whatever it exceeds; 0 for one that cannot be read. It is small enough for a few of them to be added up.
func bandwidth(text string, total networkqos.Rate) networkqos.Rate {
	setting := intstr.FromString(text)
	if percentage(text) {
		setting = intstr.Parse(text)
	} else {
		total = 0 // the text is not to be cut to it
	}
	rate, err := networkqos.RateOf(setting, total)
	if err != nil {
		return 0
	}
	return min(rate, math.MaxInt64/8)
}

func bits(rate networkqos.Rate) string {
	return resource.NewQuantity(rate.Bits(), resource.DecimalSI).String()
}
