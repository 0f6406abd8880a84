package kernelfs

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/decision/cpuset"
)

// step writes one file of a cgroup and says what comes of it. A step without a file puts a task into the cgroup.
type step struct {
	cgroup, file, value string
	// want is the error, zero for none; wantShown what the file shows then.
	want      syscall.Errno
	wantShown string
}

// cases of version 1, each in cgroups of its own: "a", and "a/b" within. The machine has CPUs 0 and 1.
var casesV1 = map[string][]step{
	"quota has a least": {
		{"a", "cpu/cpu.cfs_quota_us", "999", syscall.EINVAL, "-1"},
		{"a", "cpu/cpu.cfs_quota_us", "1000", 0, "1000"},
		{"a", "cpu/cpu.cfs_quota_us", "-5", 0, "-1"},
		{"a", "cpu/cpu.cfs_quota_us", "max", syscall.EINVAL, "-1"},
	},
	"a child has no more quota than its parent": {
		{"a", "cpu/cpu.cfs_quota_us", "50000", 0, "50000"},
		{"a/b", "cpu/cpu.cfs_quota_us", "60000", syscall.EINVAL, "-1"},
		{"a/b", "cpu/cpu.cfs_quota_us", "40000", 0, "40000"},
		{"a", "cpu/cpu.cfs_quota_us", "30000", syscall.EINVAL, "50000"},
		{"a", "cpu/cpu.cfs_quota_us", "-1", 0, "-1"},
	},
	"a burst fits into the quota": {
		{"a", "cpu/cpu.cfs_quota_us", "50000", 0, "50000"},
		{"a", "cpu/cpu.cfs_burst_us", "60000", syscall.EINVAL, "0"},
		{"a", "cpu/cpu.cfs_burst_us", "50000", 0, "50000"},
		{"a", "cpu/cpu.cfs_quota_us", "40000", syscall.EINVAL, "50000"},
	},
	"shares are put to the nearest bound": {
		{"a", "cpu/cpu.shares", "0", 0, "2"},
		{"a", "cpu/cpu.shares", "1", 0, "2"},
		{"a", "cpu/cpu.shares", "300000", 0, "262144"},
		{"a", "cpu/cpu.shares", "many", syscall.EINVAL, "262144"},
	},
	"an idle group takes no shares": {
		{"a", "cpu/cpu.idle", "1", 0, "1"},
		{"a", "cpu/cpu.shares", "512", syscall.EINVAL, ""},
		{"a", "cpu/cpu.idle", "2", syscall.EINVAL, "1"},
		{"a", "cpu/cpu.idle", "0", 0, "0"},
		{"a", "cpu/cpu.shares", "512", 0, "512"},
	},
	"a cgroup has CPUs of the one above it": {
		{"a", "cpuset/cpuset.cpus", "0", syscall.EBUSY, "0-1"},
		{"a/b", "cpuset/cpuset.cpus", "1", 0, "1"},
		{"a", "cpuset/cpuset.cpus", "0", syscall.EBUSY, "0-1"},
		{"a", "cpuset/cpuset.cpus", "1", 0, "1"},
		{"a/b", "cpuset/cpuset.cpus", "0-1", syscall.EACCES, "1"},
		{"a", "cpuset/cpuset.cpus", "1,0", 0, "0-1"},
		{"a/b", "cpuset/cpuset.cpus", "0,1", 0, "0-1"},
		{"a/b", "cpuset/cpuset.cpus", "1-0", syscall.EINVAL, "0-1"},
		{"a/b", "cpuset/cpuset.cpus", "900", syscall.ERANGE, "0-1"},
	},
	"tasks keep their last CPU": {
		{cgroup: "a/b"},
		{"a/b", "cpuset/cpuset.cpus", "\n", syscall.ENOSPC, "0-1"},
		{"a/b", "cpuset/cpuset.cpus", "0", 0, "0"},
	},
	"limits are whole pages": {
		{"a", "memory/memory.limit_in_bytes", "5000000", 0, "4997120"},
		{"a", "memory/memory.limit_in_bytes", "8M", 0, "8388608"},
		{"a", "memory/memory.limit_in_bytes", "-1", 0, "9223372036854771712"},
		{"a", "memory/memory.limit_in_bytes", "lots", syscall.EINVAL, "9223372036854771712"},
	},
	"statistics cannot be written": {
		{"a", "cpu/cpu.stat", "0", syscall.EINVAL, ""},
		{"a", "memory/memory.stat", "0", syscall.EINVAL, ""},
	},
	"what is not there": {
		{"a", "cpu/cpu.bvt_warp_ns", "1", syscall.ENOENT, ""},
		{"a/c", "cpu/cpu.shares", "2", syscall.ENOENT, ""},
		{"a", "cpu/memory.limit_in_bytes", "4096", syscall.ENOENT, ""},
	},
}

var casesV2 = map[string][]step{
	"quota has a least": {
		{"a", "cpu.max", "999", syscall.EINVAL, "max 100000"},
		{"a", "cpu.max", "1000", 0, "1000 100000"},
		{"a", "cpu.max", "max", 0, "max 100000"},
		{"a", "cpu.max", "20000 50000", 0, "20000 50000"},
		{"a", "cpu.max", "-1", syscall.EINVAL, "20000 50000"},
	},
	"a child may have more quota than its parent": {
		{"a", "cpu.max", "50000", 0, "50000 100000"},
		{"a/b", "cpu.max", "60000", 0, "60000 100000"},
	},
	"a burst fits into the quota": {
		{"a", "cpu.max", "50000", 0, "50000 100000"},
		{"a", "cpu.max.burst", "60000", syscall.EINVAL, "0"},
		{"a", "cpu.max.burst", "50000", 0, "50000"},
		{"a", "cpu.max", "40000", syscall.EINVAL, "50000 100000"},
	},
	"weights are within bounds": {
		{"a", "cpu.weight", "0", syscall.ERANGE, "100"},
		{"a", "cpu.weight", "10001", syscall.ERANGE, "100"},
		{"a", "cpu.weight", "1", 0, "1"},
	},
	"an idle group takes no weight, and shows none": {
		{"a", "cpu.idle", "1", 0, "1"},
		{"a", "cpu.weight", "50", syscall.EINVAL, "0"},
		{"a", "cpu.idle", "0", 0, "0"},
	},
	"a cgroup may ask for CPUs that the one above it lacks": {
		{"a", "cpuset.cpus", "1", 0, "1"},
		{"a/b", "cpuset.cpus", "0-1", 0, "0-1"},
		{"a/b", "cpuset.cpus", "900", syscall.ERANGE, "0-1"},
		{"a/b", "cpuset.cpus", "\n", 0, ""},
	},
	"limits are whole pages": {
		{"a", "memory.high", "5000", 0, "4096"},
		{"a", "memory.high", "max", 0, "max"},
		{"a", "memory.max", "8M", 0, "8388608"},
		{"a", "memory.min", "9223372036854775807", 0, "max"},
		{"a", "memory.low", "-1", syscall.EINVAL, "0"},
	},
	"statistics cannot be written": {{"a", "cpu.stat", "0", syscall.EINVAL, ""}},
	"what is not there":            {{"a", "cpu.shares", "2", syscall.ENOENT, ""}, {"a/c", "cpu.weight", "2", syscall.ENOENT, ""}},
}

// machine is a kernel, or the imitation of one.
type machine interface {
	files.FS
	make(t *testing.T, cgroup string)
	enter(t *testing.T, cgroup string)
}

type imitation struct{ *Tree }

func (i imitation) make(_ *testing.T, cgroup string)  { i.Make(cgroup) }
func (i imitation) enter(_ *testing.T, cgroup string) { i.Enter(cgroup, 1) }

func TestTheImitationKeepsTheRules(t *testing.T) {
	for version, cases := range map[cgroup.Version]map[string][]step{cgroup.V1: casesV1, cgroup.V2: casesV2} {
		for name, steps := range cases {
			t.Run(name, func(t *testing.T) { play(t, imitation{New(version, cpuset.Of(0, 1))}, version, steps) })
		}
	}
}

// TestTheKernelKeepsTheRules needs root and a machine of two CPUs, and tests the version that is mounted.
func TestTheKernelKeepsTheRules(t *testing.T) {
	const mount = "/sys/fs/cgroup"
	tree, err := files.NewReal(mount)
	if err != nil {
		t.Skip(err)
	}
	defer tree.Close()
	version, cases := cgroup.V1, casesV1
	if tree.Exists("cgroup.controllers") {
		version, cases = cgroup.V2, casesV2
	}
	if os.Geteuid() != 0 || runtime.NumCPU() != 2 || version == cgroup.V1 && !tree.Exists("cpuset/cpuset.cpus") {
		t.Skip("needs root, two CPUs and cgroups")
	}
	for name, steps := range cases {
		t.Run(name, func(t *testing.T) { play(t, kernel{tree, mount, version}, version, steps) })
	}
}

// prefix of the cgroups that tests make.
const prefix = "koord-test"

func play(t *testing.T, on machine, version cgroup.Version, steps []step) {
	on.make(t, prefix+"/a/b")
	for i, s := range steps {
		if s.file == "" {
			on.enter(t, prefix+"/"+s.cgroup)
			continue
		}
		path := prefix + "/" + s.cgroup + "/" + s.file
		if controller, file, split := strings.Cut(s.file, "/"); split {
			path = controller + "/" + prefix + "/" + s.cgroup + "/" + file
		}
		err := on.Write(path, s.value)
		if s.want == 0 && err != nil || s.want != 0 && !errors.Is(err, s.want) {
			t.Errorf("step %d: %q to %s: %v, want %v", i, s.value, path, err, s.want)
		}
		if s.wantShown == "" && s.value != "\n" {
			continue
		}
		content, err := on.Read(path, nil)
		if shown := strings.TrimSpace(string(content)); err != nil || shown != s.wantShown {
			t.Errorf("step %d: %s shows %q, %v, want %q", i, path, shown, err, s.wantShown)
		}
	}
}

// kernel is the one that runs.
type kernel struct {
	*files.Real
	mount   string
	version cgroup.Version
}

func (k kernel) make(t *testing.T, path string) {
	at := ""
	for name := range strings.SplitSeq(path, "/") {
		above := at
		at = filepath.Join(at, name)
		for _, root := range k.hierarchies() {
			directory := filepath.Join(k.mount, root, at)
			if err := os.Mkdir(directory, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
				t.Skip(err)
			}
			t.Cleanup(func() { _ = os.Remove(directory) }) // children are cleaned up before
		}
		if k.version == cgroup.V2 {
			_ = k.Write(filepath.Join(above, "cgroup.subtree_control"), "+cpu +cpuset +memory") // the root may have it
			continue
		}
		for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
			content, err := k.Read(filepath.Join("cpuset", above, file), nil)
			if err == nil {
				err = k.Write(filepath.Join("cpuset", at, file), string(content))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

func (k kernel) hierarchies() []string {
	if k.version == cgroup.V2 {
		return []string{""}
	}
	return []string{"cpu", "cpuset", "memory"}
}

func (k kernel) enter(t *testing.T, path string) {
	process := exec.Command("sleep", "60")
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = process.Process.Kill()
		_ = process.Wait() // it was killed
	})
	for _, root := range k.hierarchies() {
		if err := os.WriteFile(filepath.Join(k.mount, root, path, "cgroup.procs"), []byte(format(int64(process.Process.Pid))), 0); err != nil {
			t.Fatal(err)
		}
	}
}
