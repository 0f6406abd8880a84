package layering

import (
	"fmt"

	"koordinator.sh/koord/api/configuration"
)

// checkNetwork reports classes that together are promised more than the whole bandwidth of a node. Only percentages can be
// added up; amounts in bits per second have no common total before the node is known.
func checkNetwork(key string, merged overlay, path string, report reporter) {
	if key != configuration.ResourceQOSConfigKey {
		return
	}
	for _, direction := range []string{"ingressRequest", "egressRequest"} {
		sum := 0.0
		for _, class := range []string{"lsrClass", "lsClass", "beClass", "systemClass"} {
			value, _ := numberAt(merged.values, class+".networkQOS."+direction)
			sum += value
		}
		if sum > 100 {
			report(path, fmt.Sprintf("the classes' networkQOS.%s add up to %v percent, which is more than 100", direction, sum))
		}
	}
}
