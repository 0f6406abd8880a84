package realnode

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// privatePaths are directories that containerd and kubelet write to regardless of their configuration. In their mount namespace, each is a
// directory of the sandbox's.
var privatePaths = []string{
	"/run/containerd",     // sockets of containerd's shims
	"/run/mount",          // what the program mount remembers
	"/var/lib/cni",        // results of network plugins
	"/var/lib/kubelet",    // the socket for device plugins
	"/var/log/containers", // links to the logs of pods
}

func (n Node) privateDirectory(path string) string { return n.path("private", filepath.Base(path)) }

// kernelSettings are those of the machine as a whole that kubelet changes. In its mount namespace, each is a file.
var kernelSettings = []string{
	"kernel/keys/root_maxbytes", "kernel/keys/root_maxkeys", "kernel/panic", "kernel/panic_on_oops",
	"vm/overcommit_memory", "vm/panic_on_oom",
}

func (n Node) kernelSetting(name string) string {
	return n.path("kernel", filepath.Base(filepath.Dir(name))+"."+filepath.Base(name))
}

// copyKernelSettings copies those that the kernel has.
func (h Host) copyKernelSettings(n Node) error {
	for _, setting := range kernelSettings {
		value := h.read(filepath.Join("proc/sys", setting))
		if value == "" {
			continue
		}
		if err := os.WriteFile(n.kernelSetting(setting), []byte(value), 0o600); err != nil {
			return fmt.Errorf("copy kernel setting %q: %w", setting, err)
		}
	}
	return nil
}

// madeMark is a file in the directories that makeMountPoints made.
const madeMark = ".koord-sandbox"

// makeMountPoints makes the private paths exist, so that they can be mounted over. Those that it makes are marked, and are empty
// but for that: what is written to them is written elsewhere.
func (h Host) makeMountPoints() error {
	for _, path := range privatePaths {
		if h.exists(path) {
			continue
		}
		dir := filepath.Join(h.Root, path)
		err := os.MkdirAll(dir, 0o755)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, madeMark), nil, 0o600)
		}
		if err != nil {
			return fmt.Errorf("create mount point %q: %w", path, err)
		}
	}
	return nil
}

// removeMountPoints removes the directories that makeMountPoints made for any sandbox, unless another still has a real node: it
// would lose what it has mounted over them. Where something has been put into one since, it stays.
func (h Host) removeMountPoints(n Node) error {
	others, err := filepath.Glob(filepath.Join(h.Root, "sys/class/net", bridgePrefix+"????????"))
	if err != nil {
		return err
	}
	for _, other := range others {
		if filepath.Base(other) != n.Bridge() {
			return nil
		}
	}
	for _, path := range privatePaths {
		dir := filepath.Join(h.Root, path)
		err := os.Remove(filepath.Join(dir, madeMark)) // fails for one that was there before
		if err == nil {
			err = os.Remove(dir)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !isNotEmpty(err) {
			return fmt.Errorf("remove mount point %q: %w", path, err)
		}
	}
	return nil
}
