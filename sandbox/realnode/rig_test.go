package realnode

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"koordinator.sh/koord/sandbox/process/processtest"
	"koordinator.sh/koord/sandbox/state"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// machine is a made-up machine below a directory of the test's.
type machine struct {
	Host
	runc string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{runc: "/usr/sbin/runc"}
	m.Host = Host{Root: t.TempDir(), OS: "linux", LookPath: func(name string) (string, error) {
		if name != "runc" || m.runc == "" {
			return "", errors.New("not found")
		}
		return m.runc, nil
	}}
	return m
}

// write makes a file of the machine.
func (m *machine) write(t *testing.T, name, content string) {
	t.Helper()
	path := filepath.Join(m.Root, name)
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(content), 0o644))
}

// hierarchies gives the machine cgroups of version 1.
func (m *machine) hierarchies(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		m.write(t, filepath.Join("sys/fs/cgroup", name, "cgroup.procs"), "1\n2\n")
	}
}

// usual is a machine that can be a node.
func usual(t *testing.T) *machine {
	t.Helper()
	m := newMachine(t)
	m.hierarchies(t, controllersV1...)
	m.write(t, "proc/self/status", "Name:\tkoordctl\nCapEff:\t000001ffffffffff\n")
	m.write(t, "proc/filesystems", "nodev\tsysfs\n\text4\nnodev\toverlay\n")
	return m
}

// newNode is a node of a sandbox of the test's, whose programs are all there.
func newNode(t *testing.T) Node {
	t.Helper()
	spec := state.Spec{Name: "demo", RealNode: "box", Binaries: t.TempDir()}
	dir := state.Open(processtest.Home(t), spec.Name) // its path is short
	n := Of(dir, spec)
	for _, name := range programs() {
		must(t, os.MkdirAll(filepath.Dir(n.Program(name)), 0o755))
		must(t, os.WriteFile(n.Program(name), nil, 0o755))
	}
	return n
}
