package realnode

import (
	"errors"
	"fmt"
	"os"

	"koordinator.sh/koord/sandbox/state"
)

// Prepare makes what the node's processes need: its directory and in it their configuration, its cgroup, and its bridge. It
// returns the node with what the machine decides. Nothing of an earlier run may be left: see Clean.
func (h Host) Prepare(n Node) (Node, error) {
	m := h.Look(n)
	if err := m.Check(n); err != nil {
		return n, err
	}
	used, err := usedNetworks()
	if err != nil {
		return n, err
	}
	n.Runc = m.Runc
	if n.Subnet, err = FreeSubnet(n.Sandbox, used); err != nil {
		return n, err
	}
	for _, dir := range n.directories() {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return n, fmt.Errorf("make the node's directory: %w", err)
		}
	}
	// The bridge first: as long as it exists, no other sandbox removes the mount points.
	if err := makeBridge(n.Bridge(), n.Address(), n.Subnet.Bits()); err != nil {
		return n, err
	}
	return n, errors.Join(
		h.makeMountPoints(), h.copyKernelSettings(n),
		h.makeCgroup(n.CgroupParent()), h.prepareView(n.CgroupView()),
	)
}

// Configure writes the configuration of the node's processes.
func (h Host) Configure(n Node, e Endpoints, t Trust) error {
	containerd, containerdErr := n.containerdConfig(h.Look(n), e.ContainerdMetrics)
	kubelet, kubeletErr := n.kubeletConfig(e, t)
	network, networkErr := n.networkConfig()
	if err := errors.Join(containerdErr, kubeletErr, networkErr); err != nil {
		return err
	}
	return errors.Join(
		state.WriteFile(n.ContainerdConfig(), containerd),
		state.WriteFile(n.KubeletConfig(), kubelet),
		state.WriteFile(n.path("networks", "10-sandbox.conflist"), network),
	)
}

func (n Node) directories() []string {
	dirs := []string{n.KubeletRoot(), n.path("networks"), n.path("logs"), n.path("kernel")}
	for _, private := range privatePaths {
		dirs = append(dirs, n.privateDirectory(private))
	}
	return dirs
}
