package cgrouptree

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/containerd/cgroups/v3/cgroup1"
	"github.com/containerd/cgroups/v3/cgroup2"
	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"
)

// subsystems are the hierarchies of version 1 as the library has them. That of cpuset gives CPUs to new cgroups, without which they
// take no process.
func (t *Tree) subsystems() ([]cgroup1.Subsystem, error) {
	var out []cgroup1.Subsystem
	for _, name := range t.names {
		if slices.Contains(strings.Split(name, ","), string(cgroup1.Cpuset)) {
			out = append(out, cgroup1.NewCpuset(t.mount))
		} else {
			out = append(out, cgroup1.NewNamed(t.mount, cgroup1.Name(name)))
		}
	}
	return out, nil
}

// load returns a cgroup of version 1; nil where there is none.
func (t *Tree) load(at string) (cgroup1.Cgroup, error) {
	control, err := cgroup1.Load(cgroup1.StaticPath("/"+at), cgroup1.WithHierarchy(t.subsystems))
	if errors.Is(err, cgroup1.ErrCgroupDeleted) {
		return nil, nil
	}
	return control, err
}

func (t *Tree) manager(at string) (*cgroup2.Manager, error) {
	return cgroup2.Load("/"+at, cgroup2.WithMountpoint(t.mount))
}

func (t *Tree) make(at string) error {
	if !t.unified {
		_, err := cgroup1.New(cgroup1.StaticPath("/"+at), &specs.LinuxResources{}, cgroup1.WithHierarchy(t.subsystems))
		return err
	}
	manager, err := cgroup2.NewManager(t.mount, "/"+at, &cgroup2.Resources{})
	if err != nil {
		return err
	}
	return switchOn(manager)
}

// switchOn switches controllers on in what is above a cgroup, as far as the kernel has them.
func switchOn(manager *cgroup2.Manager) error {
	controllers, err := manager.RootControllers()
	if err != nil {
		return err
	}
	wanted := slices.DeleteFunc(slices.Clone(controllersV2), func(name string) bool { return !slices.Contains(controllers, name) })
	return manager.ToggleControllers(wanted, cgroup2.Enable)
}

func (t *Tree) delegate(at string) error {
	if !t.unified {
		return nil
	}
	below, err := t.manager(path.Join(at, "below")) // it need not exist
	if err != nil {
		return err
	}
	return switchOn(below)
}

func (t *Tree) enter(at string, pid int) error {
	if t.unified {
		manager, err := t.manager(at)
		if err != nil {
			return err
		}
		return manager.AddProc(uint64(pid))
	}
	control, err := t.load(at)
	if err != nil || control == nil {
		return errors.Join(err, fs.ErrNotExist)
	}
	return control.AddProc(uint64(pid))
}

// attempts bound how often processes are listed again because a cgroup went meanwhile.
const attempts = 10

func (t *Tree) processes(at string) (pids []int, err error) {
	for range attempts {
		if pids, err = t.list(at); !isGone(err) {
			break
		}
	}
	pids = slices.DeleteFunc(pids, func(pid int) bool { return pid <= 1 })
	slices.Sort(pids)
	return slices.Compact(pids), err
}

func (t *Tree) list(at string) ([]int, error) {
	var pids []int
	if t.unified {
		manager, err := t.manager(at)
		if err != nil || !isFile(path.Join(t.mount, at, "cgroup.procs")) {
			return nil, err
		}
		found, err := manager.Procs(true)
		for _, pid := range found {
			pids = append(pids, int(pid))
		}
		return pids, err
	}
	control, err := t.load(at)
	if err != nil || control == nil {
		return nil, err
	}
	for _, subsystem := range control.Subsystems() {
		found, err := control.Processes(subsystem.Name(), true)
		if err != nil {
			return pids, err
		}
		for _, process := range found {
			pids = append(pids, process.Pid)
		}
	}
	return pids, nil
}

func (t *Tree) kill(at string) error {
	if t.unified {
		manager, err := t.manager(at)
		if err == nil {
			err = manager.Kill()
		}
		return ignoreGone(err)
	}
	pids, err := t.processes(at)
	for _, pid := range pids {
		_ = unix.Kill(pid, unix.SIGKILL) // it may have ended
	}
	return err
}

func (t *Tree) remove(at string) error {
	if t.unified {
		manager, err := t.manager(at)
		if err == nil {
			err = manager.Delete()
		}
		return ignoreGone(err)
	}
	control, err := t.load(at)
	if err != nil || control == nil {
		return err
	}
	return control.Delete()
}

// isGone reports whether an error says that a cgroup does not exist any more.
func isGone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENODEV) }

func ignoreGone(err error) error {
	if isGone(err) {
		return nil
	}
	return err
}
