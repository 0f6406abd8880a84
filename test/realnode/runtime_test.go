package realnode

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/hooks"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/test/sandboxtest"
)

// bareRuntime is containerd, alone, with cgroups below a separate one.
type bareRuntime struct {
	directory, programs string
	// socket is containerd's, and nri its socket for plugins.
	socket, nri string
	process     *exec.Cmd
	tree        *files.Real
	layout      cgroup.Layout
	// advisor, writer of cgroups and snapshot of the agent that was started last.
	advisor  *hooks.Advisor
	writer   *executor.Executor
	snapshot qos.NodeSnapshot
}

const containerdConfig = `version = 3
root = %[1]q
state = %[2]q
oom_score = 0
imports = []
[grpc]
address = %[3]q
[ttrpc]
address = %[4]q
[plugins.'io.containerd.cri.v1.images']
snapshotter = "native"
[plugins.'io.containerd.cri.v1.images'.pinned_images]
sandbox = "koordinator.sh/sandbox/pause:v1"
[plugins.'io.containerd.cri.v1.runtime']
restrict_oom_score_adj = true
[plugins.'io.containerd.cri.v1.runtime'.cni]
bin_dirs = [%[5]q]
conf_dir = %[5]q
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
runtime_path = %[6]q
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
BinaryName = %[7]q
Root = %[8]q
[plugins.'io.containerd.nri.v1.nri']
disable = false
socket_path = %[9]q
plugin_path = %[10]q
plugin_config_path = %[10]q
[plugins.'io.containerd.internal.v1.opt']
path = %[11]q
`

// newBareRuntime starts containerd, and skips the test where that cannot be.
func newBareRuntime(t *testing.T) *bareRuntime {
	bin, err := sandboxtest.Bin()
	if err != nil {
		t.Skip(err)
	}
	programs := filepath.Join(bin, "real-node")
	runc, err := exec.LookPath("runc")
	if _, problem := os.Stat(filepath.Join(programs, "containerd")); err != nil || problem != nil || os.Geteuid() != 0 {
		t.Skip("needs root, runc, and what make real-node builds: ", err, problem)
	}
	directory, err := os.MkdirTemp("", "koord-hooks-")
	if err != nil {
		t.Fatal(err)
	}
	r := &bareRuntime{directory: directory, programs: programs, socket: filepath.Join(directory, "c.sock"), nri: filepath.Join(directory, "nri.sock")}
	t.Cleanup(func() {
		if err := os.RemoveAll(directory); err != nil {
			t.Error(err)
		}
	})
	r.cgroups(t)
	at := func(name string) string { return filepath.Join(directory, name) }
	config := fmt.Sprintf(containerdConfig, at("root"), at("state"), r.socket, at("ttrpc.sock"), at("cni"), filepath.Join(programs, "containerd-shim-runc-v2"),
		runc, at("runc"), r.nri, at("plugins"), at("opt"))
	if err := os.WriteFile(at("config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	r.run(t)
	t.Cleanup(r.kill)
	for _, image := range []string{"pause", "burn"} {
		sandboxtest.Eventually(t, patience, func() error {
			output, err := exec.CommandContext(t.Context(), filepath.Join(programs, "ctr"), "--address", r.socket, "-n", "k8s.io", "images", "import",
				"--local", "--snapshotter", "native", filepath.Join(programs, "images", image+".tar")).CombinedOutput()
			if err != nil {
				return fmt.Errorf("%w: %s", err, output)
			}
			return nil
		})
	}
	return r
}

// run starts containerd in its own mount namespace, in which the sockets of its shims lie in the test's directory.
func (r *bareRuntime) run(t *testing.T) {
	t.Helper()
	const shims = "/run/containerd"
	private := filepath.Join(r.directory, "shims")
	if err := os.MkdirAll(private, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(shims, 0o711); err == nil {
		t.Cleanup(func() { _ = os.Remove(shims) }) // it stays when something was put into it
	}
	script := `mount --make-rprivate / && mount --bind "$1" ` + shims + ` && exec "$2" --config "$3"`
	r.process = exec.CommandContext(context.WithoutCancel(t.Context()), "unshare", "--mount", "sh", "-c", script, "sh", private,
		filepath.Join(r.programs, "containerd"), filepath.Join(r.directory, "config.toml"))
	log, err := os.OpenFile(filepath.Join(r.directory, "log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	r.process.Stdout, r.process.Stderr = log, log
	r.process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := errors.Join(r.process.Start(), log.Close()); err != nil {
		t.Fatal(err)
	}
}

// kill ends containerd as the kernel would when memory runs out. Containers go on.
func (r *bareRuntime) kill() {
	_ = r.process.Process.Kill() // it may have ended
	_ = r.process.Wait()
}

// cgroups makes one that everything lies in, with a copy of kubelet's, and removes it at the end.
func (r *bareRuntime) cgroups(t *testing.T) {
	tree, err := files.NewReal("/sys/fs/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tree.Close() })
	r.tree, r.layout = tree, cgroup.Layout{Version: cgroup.V1, Driver: cgroup.Cgroupfs, Parent: filepath.Base(r.directory)}
	if tree.Exists("cgroup.controllers") {
		r.layout.Version = cgroup.V2
	}
	t.Cleanup(func() {
		sandboxtest.Eventually(t, patience, func() error { return errors.Join(r.removeCgroups()...) })
	})
	r.makeCgroup(t, r.layout.Kubepods())
	for _, class := range []string{"burstable", "besteffort"} {
		r.makeCgroup(t, filepath.Join(r.layout.Kubepods(), class))
	}
}

// hierarchies are the roots of cgroups.
func (r *bareRuntime) hierarchies() []string {
	if r.layout.Version == cgroup.V2 {
		return []string{"/sys/fs/cgroup"}
	}
	found, _ := filepath.Glob("/sys/fs/cgroup/*") // the pattern is well formed
	var out []string
	for _, path := range found {
		if info, err := os.Lstat(path); err == nil && info.IsDir() {
			out = append(out, path)
		}
	}
	return out
}

func (r *bareRuntime) makeCgroup(t *testing.T, path string) {
	t.Helper()
	for _, root := range r.hierarchies() {
		at := root
		for part := range strings.SplitSeq(path, "/") {
			above := at
			at = filepath.Join(at, part)
			if err := os.Mkdir(at, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
				t.Fatal(err)
			}
			for _, file := range []string{"cpuset.cpus", "cpuset.mems"} { // of version 1, which does not inherit them
				if content, err := os.ReadFile(filepath.Join(above, file)); err == nil && r.layout.Version == cgroup.V1 {
					if there, err := os.ReadFile(filepath.Join(at, file)); err == nil && strings.TrimSpace(string(there)) == "" {
						if err := os.WriteFile(filepath.Join(at, file), content, 0); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
			if r.layout.Version == cgroup.V2 {
				_ = os.WriteFile(filepath.Join(above, "cgroup.subtree_control"), []byte("+cpu +cpuset +memory +pids"), 0)
			}
		}
	}
}

// removeCgroups ends what runs in them, and removes them from the bottom.
func (r *bareRuntime) removeCgroups() []error {
	var problems []error
	for _, root := range r.hierarchies() {
		var directories []string
		_ = filepath.WalkDir(filepath.Join(root, r.layout.Parent), func(path string, entry os.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				directories = append([]string{path}, directories...)
			}
			return nil // what went meanwhile needs no removing
		})
		for _, directory := range directories {
			content, _ := os.ReadFile(filepath.Join(directory, "cgroup.procs"))
			for _, field := range strings.Fields(string(content)) {
				if pid, err := strconv.Atoi(field); err == nil && pid > 0 {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
			if err := os.Remove(directory); err != nil && !errors.Is(err, os.ErrNotExist) {
				problems = append(problems, err)
			}
		}
	}
	return problems
}

// supports says whether the kernel has a setting.
func (r *bareRuntime) supports(setting cgroup.Setting) bool {
	return r.layout.Supports(r.tree, setting, r.layout.Kubepods())
}

// shares as they read back.
func (r *bareRuntime) shares(value int64) string {
	text, _ := cgroup.CPUShares.Canonical(r.layout.Version, strconv.FormatInt(value, 10)) // it is a number
	return text
}
