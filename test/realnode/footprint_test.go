package realnode

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"koordinator.sh/koord/sandbox/realnode"
	"koordinator.sh/koord/test/sandboxtest"
)

// footprint is everything of a machine that a real node might leave something in.
type footprint map[string][]string

// look reads the machine. Processes, cgroups and interfaces are not those of other sandboxes with real nodes; directories are
// those that a real node could have made; the rest is compared as a whole.
func (r *rig) look(t *testing.T) footprint {
	t.Helper()
	cgroup := "koord-sandbox-" + r.Name
	got := footprint{
		"mounts": mounts(t), "processes": r.processes(t), "interfaces": interfaces(t, realnode.Node{Sandbox: r.Name}.Bridge()),
		"cgroups": glob(t, "/sys/fs/cgroup/"+cgroup, "/sys/fs/cgroup/*/"+cgroup),
	}
	got["directories"] = glob(t, "/run/containerd*", "/run/netns*", "/run/mount*", "/var/lib/kubelet*", "/var/lib/cni*", "/var/lib/containerd*",
		"/var/log/containers*", "/var/log/pods*", "/etc/cni*", "/etc/containerd*", "/opt/cni*", "/opt/containerd*")
	for _, name := range []string{
		"kernel/keys/root_maxbytes", "kernel/keys/root_maxkeys", "kernel/panic", "kernel/panic_on_oops",
		"vm/overcommit_memory", "vm/panic_on_oom", "net/ipv4/ip_forward",
	} {
		value, err := os.ReadFile(filepath.Join("/proc/sys", name))
		if err != nil {
			t.Fatal(err)
		}
		got["kernel settings"] = append(got["kernel settings"], name+" "+strings.TrimSpace(string(value)))
	}
	return got
}

// mounts are the mount points that this process sees.
func mounts(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	var points []string
	for line := range strings.Lines(string(data)) {
		if fields := strings.Fields(line); len(fields) > 4 {
			points = append(points, fields[4])
		}
	}
	slices.Sort(points)
	return points
}

// processes are those that name the sandbox's directory, and those in its cgroups, as long as they live.
func (r *rig) processes(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, dir := range glob(t, "/proc/[0-9]*") {
		// Of one that has ended meanwhile, nothing can be read.
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		cgroups, _ := os.ReadFile(filepath.Join(dir, "cgroup"))
		if strings.Contains(string(line), r.Directory()) || strings.Contains(string(cgroups), "/koord-sandbox-"+r.Name) {
			found = append(found, filepath.Base(dir)+" "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

// interfaces are those of the machine, without other real nodes' bridges and what is attached to those.
func interfaces(t *testing.T, own string) []string {
	t.Helper()
	var names []string
	for _, dir := range glob(t, "/sys/class/net/*") {
		name := filepath.Base(dir)
		master, err := os.Readlink(filepath.Join(dir, "master"))
		if err != nil {
			master = name
		}
		if master = filepath.Base(master); master == own || !strings.HasPrefix(master, "koord-") {
			names = append(names, name)
		}
	}
	return names
}

func glob(t *testing.T, patterns ...string) []string {
	t.Helper()
	var found []string
	for _, pattern := range patterns {
		matches, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, matches...)
	}
	return found
}

// wantSame waits until some parts of the machine are as they were: the kernel lets go of a pod a moment after its end.
func (r *rig) wantSame(t *testing.T, before footprint, parts ...string) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		now := r.look(t)
		for _, part := range parts {
			if !slices.Equal(before[part], now[part]) {
				return fmt.Errorf("%s are %q; want %q as before", part, now[part], before[part])
			}
		}
		return nil
	})
}
