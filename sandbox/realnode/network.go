package realnode

import (
	"encoding/json"
	"fmt"
)

// networkConfig attaches pods to the bridge, with addresses of the subnet. The bridge is the sandbox's, not the plugin's: it
// has its address before the first pod, and the plugin has no reason to make the machine forward packets.
func (n Node) networkConfig() ([]byte, error) {
	config := map[string]any{
		"cniVersion": "1.0.0", "name": n.CgroupParent(),
		"plugins": []any{map[string]any{
			"type": "bridge", "bridge": n.Bridge(), "isGateway": false, "ipMasq": false, "hairpinMode": true,
			"ipam": map[string]any{
				"type": "host-local", "dataDir": n.path("addresses"),
				"ranges": []any{[]any{map[string]any{"subnet": n.Subnet.String(), "gateway": n.Address().String()}}},
			},
		}},
	}
	data, err := json.MarshalIndent(config, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the network configuration: %w", err)
	}
	return data, nil
}
