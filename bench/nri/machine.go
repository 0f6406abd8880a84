package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/host/kernelfs"
	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/sandbox/cgrouptree"
)

// parent is kubelet's --cgroup-root.
const parent = "koord-bench-nri"

// machine has the cgroups: the kernel's, or a model of them.
type machine struct {
	layout cgroup.Layout
	tree   files.FS

	groups *cgrouptree.Tree
	model  *kernelfs.Tree
	real   *files.Real
}

func newMachine(o options) (*machine, error) {
	m := &machine{layout: cgroup.Layout{Version: cgroup.V2, Driver: cgroup.Cgroupfs, Parent: parent}}
	if o.kernel {
		if err := m.openKernel(); err != nil {
			return nil, errors.Join(fmt.Errorf("use the kernel's cgroups: %w (-kernel=false uses a model of them)", err), m.close())
		}
	} else {
		m.model = kernelfs.New(cgroup.V2, cpuset.Of(0, 1, 2, 3))
		m.tree = m.model
	}
	var problems []error
	for _, at := range []string{parent, m.layout.Kubepods(), m.layout.QoS(corev1.PodQOSBurstable), m.layout.QoS(corev1.PodQOSBestEffort)} {
		problems = append(problems, m.make(at))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, errors.Join(err, m.close())
	}
	return m, nil
}

func (m *machine) openKernel() (err error) {
	if m.groups, err = cgrouptree.Open(cgrouptree.Mount, "cpu", "cpuacct", "cpuset", "memory", "unified"); err != nil {
		return err
	}
	if !m.groups.Unified() {
		m.layout.Version = cgroup.V1
	}
	if m.real, err = files.NewReal(cgrouptree.Mount); err != nil {
		return err
	}
	m.tree = m.real
	return nil
}

// make a cgroup, as kubelet and runtimes do.
func (m *machine) make(at string) error {
	if m.model != nil {
		m.model.Make(at)
		return nil
	}
	return m.groups.Make(at)
}

func (m *machine) remove(at string) error {
	if m.model != nil {
		m.model.Remove(at)
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second) // for processes that leave it a moment after their end
	defer cancel()
	return m.groups.Remove(ctx, at)
}

// set a value of a cgroup, as a runtime does.
func (m *machine) set(setting cgroup.Setting, at, value string) error {
	content, err := setting.Encode(m.layout.Version, value)
	if err != nil {
		return err
	}
	file, _ := m.layout.Path(setting, at)
	return m.tree.Write(file, content)
}

// setFile writes a file of version 2.
func (m *machine) setFile(at, name, content string) error {
	return m.tree.Write(path.Join(at, name), content)
}

// close removes everything that was made.
func (m *machine) close() error {
	var problems []error
	if m.groups != nil {
		problems = append(problems, m.remove(parent))
	}
	if m.real != nil {
		problems = append(problems, m.real.Close())
	}
	return errors.Join(problems...)
}

// idOf a container of a pod, of the length that runtimes' have.
func idOf(pod, name string) string {
	id := fmt.Sprintf("%x", pod+name)
	return (id + strings.Repeat("0", 64))[:64]
}

// stateDirectory of the agent, and what removes it.
func stateDirectory(o options) (string, func() error, error) {
	directory, err := os.MkdirTemp(o.stateDirectory, "koord-bench-nri-")
	return directory, func() error { return os.RemoveAll(directory) }, err
}
