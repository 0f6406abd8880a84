package configmerge

import (
	"fmt"

	"koordinator.sh/koord/api/configuration"
)

// checkNetwork reports classes that together are promised more than the whole bandwidth of a node. Only percentages can be
// added up here; amounts in bits per second have no total before the node and system-config are known.
func checkNetwork(key string, merged overlay, layer map[string]any, path string, report reporter) {
	if key != configuration.ResourceQOSConfigKey {
		return
	}
	for _, direction := range []string{"ingressRequest", "egressRequest"} {
		sum, set := 0.0, false
		for _, class := range []string{"lsrClass", "lsClass", "beClass", "systemClass"} {
			at := class + ".networkQOS." + direction
			value, _ := numberAt(merged.values, at)
			sum += value
			_, here := numberAt(layer, at)
			set = set || here
		}
		if sum > 100 && set {
			report(path, fmt.Sprintf("the classes' networkQOS.%s add up to %v percent, which is more than 100", direction, sum))
		}
	}
}
