package realnode

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/sandbox/state"
)

func TestWhatKeepsAMachineFromBeingANode(t *testing.T) {
	tests := map[string]struct {
		change func(t *testing.T, m *machine, n *Node)
		want   []Problem // with PROGRAMS for the directory of the programs
	}{
		"nothing": {},
		"another system": {
			change: func(_ *testing.T, m *machine, _ *Node) { m.OS, m.UID = "darwin", 501 },
			want:   []Problem{{What: "a real node requires Linux, this is darwin", Hint: "omit --real-node"}},
		},
		"a user who is not root": {
			change: func(_ *testing.T, m *machine, _ *Node) { m.UID = 1000 },
			want:   []Problem{{What: "containers require root", Hint: "run the command as root, or omit --real-node"}},
		},
		"no runc": {
			change: func(_ *testing.T, m *machine, _ *Node) { m.runc = "" },
			want:   []Problem{{What: "runc is not installed", Hint: "apt-get install runc"}},
		},
		"some programs are not built": {
			change: func(t *testing.T, _ *machine, n *Node) {
				must(t, os.Remove(n.Program("kubelet")))
				must(t, os.Remove(n.Program("images/burn.tar")))
			},
			want: []Problem{{What: "kubelet, images/burn.tar not found in PROGRAMS", Hint: "make real-node"}},
		},
		"a hierarchy is not mounted": {
			change: func(t *testing.T, m *machine, _ *Node) {
				must(t, os.RemoveAll(filepath.Join(m.Root, "sys/fs/cgroup/cpuset")))
			},
			want: []Problem{{
				What: "cgroup controller cpuset is not available at /sys/fs/cgroup",
				Hint: "mount the cgroup hierarchies, or enable the controllers on the kernel command line",
			}},
		},
		"version 2 of cgroups, with all that is needed": {
			change: func(t *testing.T, m *machine, _ *Node) {
				must(t, os.RemoveAll(filepath.Join(m.Root, "sys/fs/cgroup")))
				m.write(t, "sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory hugetlb pids rdma misc\n")
			},
		},
		"version 2 of cgroups, without memory": {
			change: func(t *testing.T, m *machine, _ *Node) {
				must(t, os.RemoveAll(filepath.Join(m.Root, "sys/fs/cgroup")))
				m.write(t, "sys/fs/cgroup/cgroup.controllers", "cpuset cpu io pids\n")
			},
			want: []Problem{{
				What: "cgroup controller memory is not available at /sys/fs/cgroup",
				Hint: "mount the cgroup hierarchies, or enable the controllers on the kernel command line",
			}},
		},
		"a sandbox of the same name elsewhere": {
			change: func(t *testing.T, m *machine, n *Node) { m.write(t, "sys/class/net/"+n.Bridge()+"/address", "") },
			want: []Problem{{
				What: `another sandbox with the name "demo" has a real node: bridge koord-2a97516c exists`,
				Hint: "stop that sandbox, choose another --name, or, if it no longer exists, run: ip link delete koord-2a97516c",
			}},
		},
		"several at once": {
			change: func(_ *testing.T, m *machine, _ *Node) { m.UID, m.runc = 1000, "" },
			want: []Problem{
				{What: "containers require root", Hint: "run the command as root, or omit --real-node"},
				{What: "runc is not installed", Hint: "apt-get install runc"},
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			m, n := usual(t), newNode(t)
			if tc.change != nil {
				tc.change(t, m, &n)
			}
			got := m.Look(n).Problems(n)
			for i := range got {
				got[i].What = strings.ReplaceAll(got[i].What, n.Programs, "PROGRAMS")
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestADirectoryThatIsTooLongForSockets(t *testing.T) {
	m := usual(t)
	// What lies below it, /real-node/kubelet/pod-resources/kubelet.sock, is 45 characters long.
	for length, want := range map[int]int{60: 0, 62: 0, 63: 1, 80: 18} {
		n := newNode(t)
		n.Dir = "/" + strings.Repeat("d", length-1) + "/real-node"
		if got := m.Look(n).PathExcess; got != want {
			t.Errorf("a sandbox's path of %d characters is %d too long; want %d", length, got, want)
		}
	}
}

func TestProblemsAreToldAllAtOnce(t *testing.T) {
	m, n := usual(t), newNode(t)
	if err := m.Look(n).Check(n); err != nil {
		t.Errorf("Check() of a machine that can be a node = %v; want nil", err)
	}
	m.runc = ""
	found, ok := finding.From(m.Look(n).Check(n))
	if !ok || found.Code != finding.SandboxRealNode || found.Error() != "prepare this machine as a node: runc is not installed" ||
		found.Hint != "apt-get install runc" {
		t.Errorf("Check() of one problem = %+v; want it with its hint", found)
	}
	m.UID = 1000
	const want, wantHint = "prepare this machine as a node: containers require root; runc is not installed",
		"run the command as root, or omit --real-node; apt-get install runc"
	found, ok = finding.From(m.Look(n).Check(n))
	if !ok || found.Error() != want || found.Hint != wantHint {
		t.Errorf("Check() of two problems = %+v; want %q, hint %q", found, want, wantHint)
	}
}

// TestWhatAnEarlierRunLeftIsNoObstacle: the start cleans it up.
func TestWhatAnEarlierRunLeftIsNoObstacle(t *testing.T) {
	m, n := usual(t), newNode(t)
	dir := state.At(filepath.Dir(n.Dir))
	spec := state.Spec{Name: n.Sandbox, RealNode: n.Name, Binaries: filepath.Dir(n.Programs)}
	m.write(t, "sys/class/net/"+n.Bridge()+"/address", "")
	if err := m.CheckStart(dir, spec); err == nil {
		t.Error("CheckStart() beside another sandbox's bridge = nil; want an error")
	}
	must(t, os.MkdirAll(n.Dir, 0o700))
	if err := m.CheckStart(dir, spec); err != nil {
		t.Errorf("CheckStart() with a bridge of its own = %v; want nil", err)
	}
}

func TestWhatTheMachineDecides(t *testing.T) {
	tests := map[string]struct {
		change          func(t *testing.T, m *machine)
		wantSnapshotter string
		wantLower       bool
	}{
		"an ordinary machine": {wantSnapshotter: "overlayfs", wantLower: true},
		"a kernel without overlay file systems": {
			change:          func(t *testing.T, m *machine) { m.write(t, "proc/filesystems", "\text4\n\tnotoverlay\n") },
			wantSnapshotter: "native", wantLower: true,
		},
		"root without the capability for resources": {
			change:          func(t *testing.T, m *machine) { m.write(t, "proc/self/status", "CapEff:\t000001fffeffffff\n") },
			wantSnapshotter: "overlayfs",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			m, n := usual(t), newNode(t)
			if tc.change != nil {
				tc.change(t, m)
			}
			if onOverlay(n.Dir) {
				tc.wantSnapshotter = "native"
			}
			got := m.Look(n)
			if got.snapshotter() != tc.wantSnapshotter || got.MayLowerOOMScore != tc.wantLower {
				t.Errorf("snapshotter %q, may lower the score: %t; want %q, %t", got.snapshotter(), got.MayLowerOOMScore, tc.wantSnapshotter, tc.wantLower)
			}
		})
	}
}
