package realnode

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Machine is what a real node depends on of the machine.
type Machine struct {
	// OS is the operating system, as Go names it.
	OS string
	// Root reports whether the process runs as root.
	Root bool
	// Runc is the path of the program that runs containers; "" when it is not installed.
	Runc string
	// MissingPrograms are those of `make real-node` that are not there.
	MissingPrograms []string
	// StaleImages are of programs that are others since.
	StaleImages []string
	// MissingControllers are the kernel's resource controllers that kubelet and runc need and cannot have.
	MissingControllers []string
	// MayLowerOOMScore reports whether processes may make themselves less likely to be killed when memory runs out.
	MayLowerOOMScore bool
	// Overlay reports whether layers of images can be stacked; without, they are copied.
	Overlay bool
	// BridgeTaken reports whether the node's bridge exists: another sandbox of the same name runs a node.
	BridgeTaken bool
	// PathExcess is by how many characters the sandbox's directory is too long for the sockets below it; 0 for not at all.
	PathExcess int
}

// Host is where a Machine is read from.
type Host struct {
	// Root is the directory that /proc and /sys are in: "/" but in tests.
	Root string
	OS   string
	UID  int
	// LookPath finds a program.
	LookPath func(string) (string, error)
}

// ThisHost is the machine that the process runs on.
func ThisHost() Host { return Host{Root: "/", OS: runtime.GOOS, UID: os.Getuid(), LookPath: lookPath} }

// lookPath finds a program on PATH or where administrators' programs are: sudo and services may have a PATH without those.
func lookPath(name string) (string, error) {
	found, err := exec.LookPath(name)
	if err == nil {
		return filepath.Abs(found)
	}
	for _, dir := range []string{"/usr/sbin", "/sbin", "/usr/local/sbin"} {
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found, nil
		}
	}
	return "", err
}

// maxSocketPath is the longest path that Linux can bind a Unix socket to.
const maxSocketPath = 107

// programs that a real node is made of, relative to their directory.
func programs() []string {
	return append([]string{"containerd", "containerd-shim-runc-v2", "ctr", "kubelet", "cni/bridge", "cni/host-local"}, imageFiles()...)
}

// Look reads what a node depends on. What cannot be read counts as missing.
func (h Host) Look(n Node) Machine {
	m := Machine{
		OS: h.OS, Root: h.UID == 0, MissingControllers: h.missingControllers(),
		MayLowerOOMScore: h.maySetResources(), Overlay: h.hasOverlay(n.Dir),
		BridgeTaken: h.exists("sys/class/net", n.Bridge()),
		PathExcess:  max(0, len(longestSocket(n.Dir))-maxSocketPath),
	}
	if runc, err := h.LookPath("runc"); err == nil {
		m.Runc = runc
	}
	for _, name := range programs() {
		if info, err := os.Stat(n.Program(name)); err != nil || info.IsDir() {
			m.MissingPrograms = append(m.MissingPrograms, name)
		}
	}
	if n.hasStaleImages() {
		m.StaleImages = systemPrograms
	}
	return m
}

func (h Host) exists(elements ...string) bool {
	_, err := os.Lstat(filepath.Join(append([]string{h.Root}, elements...)...))
	return err == nil
}

func (h Host) read(name string) string {
	data, err := os.ReadFile(filepath.Join(h.Root, name))
	if err != nil {
		return ""
	}
	return string(data)
}

// Controllers of the two versions of cgroups.
var (
	controllersV1 = []string{"blkio", "cpu", "cpuacct", "cpuset", "devices", "freezer", "memory", "pids"}
	controllersV2 = []string{"cpu", "cpuset", "io", "memory", "pids"}
)

func (h Host) missingControllers() []string {
	if data := h.read("sys/fs/cgroup/cgroup.controllers"); data != "" {
		has := strings.Fields(data)
		return slices.DeleteFunc(slices.Clone(controllersV2), func(c string) bool { return slices.Contains(has, c) })
	}
	return slices.DeleteFunc(slices.Clone(controllersV1), func(c string) bool {
		return h.exists("sys/fs/cgroup", c, "cgroup.procs")
	})
}

// maySetResources reports whether the process has the capability CAP_SYS_RESOURCE.
func (h Host) maySetResources() bool {
	const sysResource = 24
	for line := range strings.Lines(h.read("proc/self/status")) {
		if text, found := strings.CutPrefix(line, "CapEff:"); found {
			set, err := strconv.ParseUint(strings.TrimSpace(text), 16, 64)
			return err == nil && set&(1<<sysResource) != 0
		}
	}
	return false
}

// hasOverlay reports whether the kernel knows overlay file systems, and dir does not lie on one: they cannot be stacked.
func (h Host) hasOverlay(dir string) bool {
	known := slices.ContainsFunc(strings.Split(h.read("proc/filesystems"), "\n"), func(line string) bool {
		return strings.TrimSpace(strings.TrimPrefix(line, "nodev")) == "overlay"
	})
	return known && !onOverlay(dir)
}

// snapshotter is what containerd keeps the layers of images with.
func (m Machine) snapshotter() string {
	if m.Overlay {
		return "overlayfs"
	}
	return "native"
}
