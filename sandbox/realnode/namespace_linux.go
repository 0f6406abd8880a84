package realnode

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// EnterNamespace moves the calling thread into a mount namespace of the node's own, in which the private paths and the kernel's
// settings are the sandbox's. The caller must have locked its thread, which must not be the process's first, and must let it end
// with the goroutine: it cannot come back. Mounts of the machine still appear in the namespace; those made in it appear nowhere
// else, and are gone with its last process.
func (n Node) EnterNamespace() error {
	if err := unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_FS); err != nil {
		return fmt.Errorf("make a mount namespace: %w", err)
	}
	for _, propagation := range []uintptr{unix.MS_SLAVE, unix.MS_SHARED} { // shared below, for pods that ask for it
		if err := unix.Mount("", "/", "", unix.MS_REC|propagation, ""); err != nil {
			return fmt.Errorf("make the node's mounts its own: %w", err)
		}
	}
	for _, path := range privatePaths {
		if err := bind(n.privateDirectory(path), path); err != nil {
			return err
		}
	}
	if err := ThisHost().bindView(n.CgroupParent(), n.CgroupView()); err != nil {
		return err
	}
	for _, setting := range kernelSettings {
		err := bind(n.kernelSetting(setting), filepath.Join("/proc/sys", setting))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // a kernel without the setting
			return err
		}
	}
	return nil
}

// bindView puts the cgroup of each hierarchy in the place that prepareView made for it.
func (h Host) bindView(name, view string) error {
	tree, err := h.cgroups()
	if err != nil {
		return err
	}
	for _, hierarchy := range tree.Hierarchies() {
		if err := bind(filepath.Join(h.cgroupMount(), hierarchy, name), filepath.Join(view, hierarchy)); err != nil {
			return err
		}
	}
	return nil
}

func bind(source, target string) error {
	if err := unix.Mount(source, target, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("put %q in the place of %q: %w", source, target, err)
	}
	return nil
}

// OnFirstThread reports whether the calling thread is the process's first, which never ends before the process does.
func OnFirstThread() bool { return unix.Gettid() == os.Getpid() }
