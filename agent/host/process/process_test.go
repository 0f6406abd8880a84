package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/host/kernelfs"
	"koordinator.sh/koord/decision/core/cpuset"
)

func TestProcessesInACgroup(t *testing.T) {
	for _, version := range []cgroup.Version{cgroup.V1, cgroup.V2} {
		kernel, proc := kernelfs.New(version, cpuset.Of(0)), kernelfs.NewMachine()
		kernel.Make("a/b")
		kernel.Show("a/b", "cgroup.procs", "30\n7\n0\n8")
		proc.Start(7, 70, "a/b", 0)
		proc.Start(30, 300, "a/b", 0)
		got, err := In(kernel, proc, cgroup.Layout{Version: version}, "a/b") // 8 ends meanwhile, 0 is of another namespace
		if diff := cmp.Diff([]Identity{{7, 70, "a/b"}, {30, 300, "a/b"}}, got); err != nil || diff != "" {
			t.Errorf("processes (-want +got):\n%s%v", diff, err)
		}
		if _, err := In(kernel, proc, cgroup.Layout{Version: version}, "a/c"); !files.IsGone(err) {
			t.Errorf("processes of a cgroup that has gone: %v", err)
		}
	}
}

func TestNamesOfProcesses(t *testing.T) {
	want := Identity{PID: 12, Start: 345, Cgroup: "kubepods/pod 1/c"}
	if got, err := Parse(want.String()); err != nil || got != want {
		t.Errorf("%q is %+v, %v", want.String(), got, err)
	}
	for _, name := range []string{"", "12", "12@345", "12@345 ", "-1@5 a", "0@5 a", "x@5 a", "12@x a", "12 5 a", "99999999999@1 a"} {
		if got, err := Parse(name); err == nil || !files.IsGone(err) {
			t.Errorf("%q is %+v, %v", name, got, err)
		}
	}
}

func FuzzIdentity(f *testing.F) {
	f.Add("12 (a) b) S"+strings.Repeat(" 1", 30), "12@345 a/b", "2:cpu,cpuacct:/a/b\n0::/")
	f.Add(")", "@ ", "::")
	f.Fuzz(func(t *testing.T, stat, name, groups string) {
		_, _ = StartOf(stat)
		_ = isIn(groups, cgroup.V1, "a/b")
		if identity, err := Parse(name); err == nil {
			if again, err := Parse(identity.String()); err != nil || again != identity {
				t.Errorf("%q is %+v, and then %+v, %v", name, identity, again, err)
			}
		}
	})
}

// A process of the running kernel is reached through its directory only while it is the same one.
func TestARealProcess(t *testing.T) {
	proc, err := files.NewReal("/proc")
	if err != nil {
		t.Skip(err)
	}
	defer proc.Close()
	child := exec.Command("sleep", "60")
	if err := child.Start(); err != nil {
		t.Skip(err)
	}
	defer func() { _ = child.Process.Kill() }()
	pid := child.Process.Pid
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	start, err := StartOf(string(stat))
	if err != nil || start == 0 {
		t.Fatalf("started at %d, %v", start, err)
	}
	version, at := ownCgroup(t, pid)
	identity := Identity{PID: pid, Start: start, Cgroup: at}
	directory, err := OOMScore{}.Open(proc, version, identity.String())
	if err != nil {
		t.Fatal(err)
	}
	defer directory.Close()
	if err := directory.Write(oomScoreKey, "500"); err != nil { // anybody may have a process killed earlier
		t.Fatal(err)
	}
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid))
	if err != nil || strings.TrimSpace(string(content)) != "500" {
		t.Errorf("the score is %q, %v", content, err)
	}
	for _, other := range []Identity{{pid, start + 1, at}, {pid, start, at + "x"}} {
		if _, err := (OOMScore{}).Open(proc, version, other.String()); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("%+v is taken for %+v: %v", identity, other, err)
		}
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // it was killed
	if err := directory.Write(oomScoreKey, "0"); !files.IsGone(err) {
		t.Errorf("writing to a process that has ended: %v", err)
	}
	if _, err := (OOMScore{}).Open(proc, version, identity.String()); !files.IsGone(err) {
		t.Errorf("opening a process that has ended: %v", err)
	}
}

// ownCgroup is where a process is, by the version that has the CPU.
func ownCgroup(t *testing.T, pid int) (cgroup.Version, string) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []cgroup.Version{cgroup.V1, cgroup.V2} {
		for line := range strings.Lines(string(content)) {
			at := strings.TrimSpace(line[strings.LastIndex(line, ":")+1:])
			if isIn(string(content), version, at) && (version == cgroup.V2 || strings.Contains(line, "cpu")) {
				return version, at
			}
		}
	}
	t.Skipf("no cgroup in %q", content)
	return 0, ""
}
