package realnode

import (
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"path/filepath"
	"regexp"
	"strings"

	"koordinator.sh/koord/sandbox/state"
)

// Label marks the node that this machine is.
const Label = "sandbox.koordinator.sh/real-node"

// Names that the images are imported by. No registry has them.
const (
	PauseImage    = "koordinator.sh/sandbox/pause:v1"
	WorkloadImage = "koordinator.sh/sandbox/burn:v1"
	// Registry and SystemTag name the images of the system.
	Registry  = "koordinator.sh/sandbox"
	SystemTag = "current"
)

// Node is this machine as the node of one sandbox: where everything of it lies.
type Node struct {
	// Name of the node object.
	Name string
	// Sandbox is the name of the sandbox.
	Sandbox string
	// Dir holds everything that the node writes, and exists as long as something of the node may be left.
	Dir string
	// Programs is the directory with containerd, kubelet, the network plugins and the images.
	Programs string
	// Runc is the path of the program that runs containers.
	Runc string
	// Subnet has the addresses of the bridge and of the pods. The first is the bridge's, and the node's own.
	Subnet netip.Prefix
}

// Of returns the node of a sandbox, without its runc and subnet, which the machine decides: see Prepare.
func Of(dir state.Dir, spec state.Spec) Node {
	return Node{
		Name: spec.RealNode, Sandbox: spec.Name,
		Dir: directory(dir), Programs: Programs(spec.Binaries),
	}
}

// Programs is where `make real-node` puts what a real node needs, below the directory of the other programs.
func Programs(binaries string) string { return filepath.Join(binaries, "real-node") }

func directory(dir state.Dir) string { return filepath.Join(dir.Path(), "real-node") }

// Program is the path of one of the node's programs.
func (n Node) Program(name string) string { return filepath.Join(n.Programs, name) }

// Address is the node's, which the bridge has.
func (n Node) Address() netip.Addr { return n.Subnet.Addr().Next() }

// CgroupParent is the cgroup that kubelet makes its own in, relative to a hierarchy.
func (n Node) CgroupParent() string { return "koord-sandbox-" + n.Sandbox }

// bestEffort is the cgroup of all best-effort pods, relative to a hierarchy.
func (n Node) bestEffort() string { return n.CgroupParent() + "/kubepods/besteffort" }

// CgroupView is a directory that, in the node's mount namespace, looks like /sys/fs/cgroup of a machine that is nothing but the
// node: what kubelet makes lies at the top, and nothing outside of the node can be reached.
func (n Node) CgroupView() string { return n.path("cgroup") }

// AgentState is where the node's agent keeps what must outlive it.
func (n Node) AgentState() string { return n.path("koordlet") }

// bridgePrefix begins the names of all real nodes' bridges, which go on with eight hexadecimal digits.
const bridgePrefix = "koord-"

// Bridge is the network interface that the pods are behind. The kernel allows 15 characters.
func (n Node) Bridge() string {
	sum := sha256.Sum256([]byte(n.Sandbox))
	return bridgePrefix + hex.EncodeToString(sum[:4])
}

func (n Node) path(elements ...string) string {
	return filepath.Join(append([]string{n.Dir}, elements...)...)
}

// ContainerdSocket is where containerd listens.
func (n Node) ContainerdSocket() string { return n.path("containerd.sock") }

// NRISocket is where plugins of the container runtime register. Its directory has nothing else in it: the agent's pod mounts it.
func (n Node) NRISocket() string { return n.path("nri", "nri.sock") }

// ContainerdConfig is containerd's configuration file.
func (n Node) ContainerdConfig() string { return n.path("containerd.toml") }

// KubeletConfig is kubelet's configuration file.
func (n Node) KubeletConfig() string { return n.path("kubelet.yaml") }

// KubeletRoot is kubelet's --root-dir.
func (n Node) KubeletRoot() string { return n.path("kubelet") }

// longestSocket is the longest path of a Unix socket below Dir: kubelet's for pod resources.
func longestSocket(dir string) string {
	return filepath.Join(dir, "kubelet", "pod-resources", "kubelet.sock")
}

var notInNames = regexp.MustCompile(`[^a-z0-9.-]+`)

// NodeName makes the name of a node of the name of a machine.
func NodeName(hostname string) string {
	name := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(hostname), "-"), "-.")
	if name == "" {
		return "machine"
	}
	return name
}
