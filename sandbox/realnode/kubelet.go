package realnode

import (
	"fmt"

	"sigs.k8s.io/yaml"

	"koordinator.sh/koord/sandbox/pki"
)

// Endpoints of the node's processes.
type Endpoints struct {
	// Kubelet serves logs and exec on this port of the node's address.
	Kubelet int
	// KubeletHealth and ContainerdMetrics are loopback ports.
	KubeletHealth, ContainerdMetrics int
}

// Trust is what kubelet proves its identity with, and recognises callers by.
type Trust struct {
	// CAFile signs the callers of kubelet.
	CAFile string
	// Serving is kubelet's own certificate.
	Serving pki.Pair
}

// kubeletConfig is kubelet's configuration. What kubelet would otherwise do to the machine as a whole is switched off.
func (n Node) kubeletConfig(e Endpoints, t Trust) ([]byte, error) {
	config := map[string]any{
		"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
		"address": n.Address().String(), "port": e.Kubelet,
		"healthzBindAddress": "127.0.0.1", "healthzPort": e.KubeletHealth,
		"tlsCertFile": t.Serving.CertFile, "tlsPrivateKeyFile": t.Serving.KeyFile,
		"authentication": map[string]any{
			"x509":      map[string]any{"clientCAFile": t.CAFile},
			"webhook":   map[string]any{"enabled": true},
			"anonymous": map[string]any{"enabled": false},
		},
		"authorization":            map[string]any{"mode": "Webhook"},
		"containerRuntimeEndpoint": "unix://" + n.ContainerdSocket(),
		"cgroupDriver":             "cgroupfs", "cgroupRoot": "/" + n.CgroupParent(), "failCgroupV1": false,
		"podLogsDir": n.path("logs"), "volumePluginDir": n.path("volume-plugins"),
		// The sandbox has no DNS server, and pods no way out of the machine: looking up a name fails at once.
		"resolvConf": "", "clusterDNS": []string{"10.96.0.10"}, "clusterDomain": "cluster.local",
		"failSwapOn": false, "memorySwap": map[string]any{"swapBehavior": "NoSwap"},
		"oomScoreAdj": 0, "makeIPTablesUtilChains": false, "enableControllerAttachDetach": false,
		// The rest of the machine, with the sandbox's control plane.
		"systemReserved": map[string]any{"cpu": "100m", "memory": "512Mi"},
		// Images are imported once and can be pulled from nowhere; and the disk is the user's, who may like it full.
		"imageGCHighThresholdPercent": 100, "imageGCLowThresholdPercent": 99,
		"evictionHard": map[string]any{
			"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%", "nodefs.inodesFree": "1%",
		},
	}
	data, err := yaml.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("write kubelet's configuration: %w", err)
	}
	return data, nil
}
