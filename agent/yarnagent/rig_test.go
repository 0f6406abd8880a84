package yarnagent

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"koordinator.sh/koord/agent/copilot"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/host/kernelfs"
	"koordinator.sh/koord/decision/core/cpuset"
)

const above = "kubepods/besteffort/hadoop-yarn"

// kernel is a tree of cgroups that knows which processes of this machine are where, as the kernel does.
type kernel struct {
	*kernelfs.Tree
	version cgroup.Version

	mu sync.Mutex
	// at is the directory of each process, by hierarchy and number, and refuse has moving a process fail.
	at     map[string]string
	refuse error
	// control is what was enabled for the cgroups below one of version 2.
	control map[string]string
}

func newKernel(version cgroup.Version) *kernel {
	k := &kernel{Tree: kernelfs.New(version, cpuset.Of(0, 1)), version: version, at: map[string]string{}, control: map[string]string{}}
	k.Make("kubepods/besteffort")
	return k
}

// hierarchy of a path, and the path in it.
func (k *kernel) hierarchy(name string) (string, string) {
	if k.version == cgroup.V2 {
		return "", name
	}
	hierarchy, within, _ := strings.Cut(name, "/")
	return hierarchy, within
}

func (k *kernel) MakeDirectory(name string) error {
	_, within := k.hierarchy(name)
	k.Make(within)
	return nil
}

func (k *kernel) RemoveDirectory(name string) error {
	if pids := k.processes(name); len(pids) > 0 {
		return syscall.EBUSY
	}
	_, within := k.hierarchy(name)
	k.Remove(within)
	return nil
}

func (k *kernel) Read(name string, buffer []byte) ([]byte, error) {
	directory := path.Dir(name)
	if !k.Exists(directory) {
		return nil, &fs.PathError{Op: "read", Path: name, Err: syscall.ENOENT}
	}
	switch path.Base(name) {
	case "cgroup.procs":
		return append(buffer[:0], strings.Join(k.processes(directory), "\n")...), nil
	case "cgroup.subtree_control":
		k.mu.Lock()
		defer k.mu.Unlock()
		return append(buffer[:0], k.control[directory]...), nil
	}
	return k.Tree.Read(name, buffer)
}

func (k *kernel) Write(name, value string) error {
	directory := path.Dir(name)
	k.mu.Lock()
	defer k.mu.Unlock()
	switch path.Base(name) {
	case "cgroup.procs":
		if k.refuse != nil {
			return k.refuse
		}
		hierarchy, _ := k.hierarchy(directory)
		k.at[hierarchy+" "+value] = directory
		return nil
	case "cgroup.subtree_control":
		k.control[directory] += " " + strings.TrimPrefix(value, "+")
		return nil
	}
	return k.Tree.Write(name, value)
}

// processes that run in a directory.
func (k *kernel) processes(directory string) []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []string
	for key, at := range k.at {
		_, pid, _ := strings.Cut(key, " ")
		if number, err := strconv.Atoi(pid); at == directory && err == nil && runs(number) {
			out = append(out, pid)
		}
	}
	slices.Sort(out)
	return out
}

// runs reports whether a process has not ended, not even as one that nobody has waited for.
func runs(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// manager answers as a NodeManager.
type manager struct {
	*httptest.Server
	mu     sync.Mutex
	tasks  []map[string]any
	answer func(http.ResponseWriter)
	asked  int
}

func newManager(t *testing.T) *manager {
	m := &manager{}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.asked++
		switch {
		case m.answer != nil:
			m.answer(w)
		case r.URL.Path != "/ws/v1/node/containers":
			w.WriteHeader(http.StatusNotFound)
		default:
			_ = json.NewEncoder(w).Encode(map[string]any{"containers": map[string]any{"container": m.tasks}})
		}
	}))
	t.Cleanup(m.Close)
	return m
}

func (m *manager) set(change func(*manager)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(m)
}

// has the NodeManager run a container.
func (m *manager) has(id string, vcores, mib int) {
	m.set(func(m *manager) {
		m.tasks = append(m.tasks, map[string]any{"id": id, "state": "RUNNING", "user": "spark", "totalMemoryNeededMB": float64(mib), "totalVCoresNeeded": vcores})
	})
}

// rig is an agent, its NodeManager, and the cgroups, with real processes.
type rig struct {
	*testing.T
	*agent
	kernel  *kernel
	manager *manager
}

func newRig(t *testing.T, version cgroup.Version) *rig {
	r := &rig{T: t, kernel: newKernel(version), manager: newManager(t)}
	r.agent = r.on(r.kernel, cgroup.Layout{Version: version, Driver: cgroup.Cgroupfs})
	return r
}

// on makes an agent on a tree.
func (r *rig) on(tree Tree, layout cgroup.Layout) *agent {
	r.Helper()
	proc, err := files.NewReal("/proc")
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { _ = proc.Close() })
	options := NewOptions()
	options.NodeManagerEndpoint = strings.TrimPrefix(r.manager.URL, "http://")
	made, err := newAgent(options, tree, proc, layout)
	if err != nil {
		r.Fatal(err)
	}
	return made
}

// start starts a process of a container, in a process group of its own, as the NodeManager does.
func (r *rig) start(id string, command ...string) *exec.Cmd {
	r.Helper()
	cmd := exec.CommandContext(r.Context(), command[0], command[1:]...)
	cmd.Env = append(os.Environ(), variable+id)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		r.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }() // with the signal that it got
	r.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		<-ended
	})
	return cmd
}

// again lets what was listed be old.
func (r *rig) again() {
	r.roster.mu.Lock()
	defer r.roster.mu.Unlock()
	r.roster.asked = r.roster.asked.Add(-listAge)
}

// hang has the NodeManager not answer anymore, and the agent wait for it where it synchronizes.
func (r *rig) hang(synchronizes bool) {
	r.Helper()
	asked, ended := make(chan struct{}, 1), make(chan struct{})
	r.manager.set(func(m *manager) {
		m.answer = func(http.ResponseWriter) {
			select {
			case asked <- struct{}{}:
			default: // it is known
			}
			<-ended
		}
	})
	r.again()
	var group sync.WaitGroup
	r.Cleanup(func() { close(ended); group.Wait() })
	if synchronizes {
		group.Go(func() { r.synchronize(r.Context()) })
		<-asked
		r.again()
	}
}

// serve serves the agent's socket, and returns a client of it.
func (r *rig) serve() *copilot.Client {
	r.Helper()
	socket := filepath.Join(r.TempDir(), "run", "agent.sock")
	listener, err := listen(r.Context(), socket)
	if err != nil {
		r.Fatal(err)
	}
	server := &http.Server{Handler: r.handler(), ReadHeaderTimeout: readTimeout}
	go func() { _ = server.Serve(listener) }() // ends with Close
	r.Cleanup(func() { _ = server.Close() })
	return copilot.NewClient(socket)
}

func onBoth(t *testing.T, test func(*rig)) {
	for name, version := range map[string]cgroup.Version{"version 1": cgroup.V1, "version 2": cgroup.V2} {
		t.Run(name, func(t *testing.T) { test(newRig(t, version)) })
	}
}

// names of containers.
func names(containers []copilot.Container) []string {
	var out []string
	for i := range containers {
		out = append(out, containers[i].Name)
	}
	return out
}
