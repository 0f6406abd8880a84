package component

import (
	"fmt"
	"path/filepath"

	"koordinator.sh/koord/sandbox/pki"
	"koordinator.sh/koord/sandbox/realnode"
)

// RealNode is what the components of a real node are made of.
type RealNode struct {
	Node realnode.Node
	// Pairs are the certificates of kubelet and of those who call it.
	Pairs pki.NodePairs
}

func (p Plan) containerd() Component {
	n := p.RealNode.Node
	return Component{
		Name: Containerd, Program: n.Program(Containerd), Private: true,
		Args:  []string{"--config", n.ContainerdConfig()},
		Env:   memory(thrifty, "512MiB"),
		Ready: Probe{URL: fmt.Sprintf("http://127.0.0.1:%d/v1/metrics", p.Ports.ContainerdMetrics)},
	}
}

func (p Plan) kubelet() Component {
	n := p.RealNode.Node
	return Component{
		Name: Kubelet, Program: n.Program(Kubelet), Private: true,
		Args: []string{
			"--config=" + n.KubeletConfig(),
			"--kubeconfig=" + p.kubeconfig(pki.NodeKubeconfig),
			"--hostname-override=" + n.Name,
			"--node-ip=" + n.Address().String(),
			"--node-labels=" + realnode.Label + "=true",
			"--root-dir=" + n.KubeletRoot(), "--cert-dir=" + filepath.Join(n.KubeletRoot(), "pki"),
		},
		Env:   memory(thrifty, "512MiB"),
		Ready: Probe{URL: fmt.Sprintf("http://127.0.0.1:%d/healthz", p.Ports.KubeletHealth)},
	}
}

// kubeScheduler is the cluster's default scheduler: koord-scheduler runs in a pod itself.
func (p Plan) kubeScheduler() Component {
	config := p.kubeconfig(KubeScheduler)
	return Component{
		Name: KubeScheduler,
		Args: []string{
			"--kubeconfig=" + config, "--authentication-kubeconfig=" + config, "--authorization-kubeconfig=" + config,
			"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", p.Ports.KubeScheduler),
			"--leader-elect=false", "--profiling=false",
		},
		Env:   memory(thrifty, "512MiB"),
		Ready: Probe{URL: loopbackURL(p.Ports.KubeScheduler, "/readyz"), Client: p.Bundle.Client("admin")},
	}
}

// kubeletAccess are the API server's flags that let it ask kubelet for the logs of a pod.
func (p Plan) kubeletAccess() []string {
	if p.RealNode == nil {
		return nil
	}
	return []string{
		"--kubelet-client-certificate=" + p.RealNode.Pairs.Caller.CertFile,
		"--kubelet-client-key=" + p.RealNode.Pairs.Caller.KeyFile,
		"--kubelet-certificate-authority=" + p.Bundle.CAFile,
		"--kubelet-preferred-address-types=InternalIP",
	}
}
