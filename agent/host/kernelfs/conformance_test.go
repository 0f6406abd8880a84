package kernelfs

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/test/livecgroup"
	"koordinator.sh/koord/test/livecgroup/work"
)

// step writes one file of a cgroup and says what comes of it. A step without a file puts a task into the cgroup.
type step struct {
	cgroup, file, value string
	// want is the error, zero for none; wantShown what the file shows then.
	want      syscall.Errno
	wantShown string
}

// cases of version 1, each in its own cgroups: "a", and "a/b" within. The machine has CPUs 0 and 1.
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
	"a group that was idle has lost its shares": {
		{"a", "cpu/cpu.shares", "512", 0, "512"},
		{"a", "cpu/cpu.idle", "1", 0, "1"},
		{"a", "cpu/cpu.shares", "512", syscall.EINVAL, "3"},
		{"a", "cpu/cpu.idle", "0", 0, "0"},
		{"a", "cpu/cpu.shares", "", 0, "1024"},
	},
	"a quota, its burst and a period have a most": {
		{"a", "cpu/cpu.cfs_quota_us", "17592186044415", 0, "17592186044415"},
		{"a", "cpu/cpu.cfs_burst_us", "1", syscall.EINVAL, "0"},
		{"a", "cpu/cpu.cfs_quota_us", "17592186044416", syscall.EINVAL, "17592186044415"},
		{"a", "cpu/cpu.cfs_quota_us", "9223372036854775807", syscall.EINVAL, "17592186044415"},
		{"a", "cpu/cpu.cfs_period_us", "1000001", syscall.EINVAL, "100000"},
		{"a", "cpu/cpu.cfs_period_us", "999", syscall.EINVAL, "100000"},
		{"a", "cpu/cpu.cfs_period_us", "1000", 0, "1000"},
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
		{"a", "cpu.max", "", 0, "20000 50000"},
	},
	"a period has bounds, and stays while only the quota is told": {
		{"a", "cpu.max", "20000 50000", 0, "20000 50000"},
		{"a", "cpu.max", "30000", 0, "30000 50000"},
		{"a", "cpu.max", "max", 0, "max 50000"},
		{"a", "cpu.max", "max 999", syscall.EINVAL, "max 50000"},
		{"a", "cpu.max", "max 1000001", syscall.EINVAL, "max 50000"},
		{"a", "cpu.max", "max 1000000", 0, "max 1000000"},
		{"a", "cpu.max", "2000 1000 7", 0, "2000 1000"},
		{"a", "cpu.max", "2000 lots", 0, "2000 1000"},
		{"a", "cpu.max", "lots", syscall.EINVAL, "2000 1000"},
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
		{"a", "cpu.max", "max", 0, "max 100000"},
		{"a", "cpu.max.burst", "60000", 0, "60000"},
		{"a", "cpu.max", "50000", syscall.EINVAL, "max 100000"},
		{"a", "cpu.max.burst", "-1", syscall.EINVAL, "60000"},
		{"a", "cpu.max.burst", "max", syscall.EINVAL, "60000"},
	},
	"a quota and its burst have a most": {
		{"a", "cpu.max", "17592186044415", 0, "17592186044415 100000"},
		{"a", "cpu.max", "17592186044416", syscall.EINVAL, "17592186044415 100000"},
		{"a", "cpu.max.burst", "1", syscall.EINVAL, "0"},
		{"a", "cpu.max", "17592186044414", 0, "17592186044414 100000"},
		{"a", "cpu.max.burst", "1", 0, "1"},
	},
	"weights are within bounds": {
		{"a", "cpu.weight", "0", syscall.ERANGE, "100"},
		{"a", "cpu.weight", "10001", syscall.ERANGE, "100"},
		{"a", "cpu.weight", "1", 0, "1"},
		{"a", "cpu.weight", "10000", 0, "10000"},
		{"a", "cpu.weight", "39", 0, "39"},
		{"a", "cpu.weight", "-1", syscall.EINVAL, "39"},
		{"a", "cpu.weight", "many", syscall.EINVAL, "39"},
	},
	"an idle group takes no weight, and shows none": {
		{"a", "cpu.idle", "1", 0, "1"},
		{"a", "cpu.weight", "50", syscall.EINVAL, "0"},
		{"a", "cpu.idle", "1", 0, "1"},
		{"a", "cpu.idle", "2", syscall.EINVAL, "1"},
		{"a", "cpu.idle", "-1", syscall.EINVAL, "1"},
		{"a", "cpu.idle", "0", 0, "0"},
	},
	"a group that was idle has lost its weight": {
		{"a", "cpu.weight", "50", 0, "50"},
		{"a", "cpu.idle", "1", 0, "1"},
		{"a", "cpu.idle", "0", 0, "0"},
		{"a", "cpu.weight", "", 0, "100"},
	},
	"a cgroup may ask for CPUs that the one above it lacks": {
		{"a", "cpuset.cpus", "1", 0, "1"},
		{"a/b", "cpuset.cpus", "0-1", 0, "0-1"},
		{"a/b", "cpuset.cpus.effective", "", 0, "1"},
		{"a/b", "cpuset.cpus", "900", syscall.ERANGE, "0-1"},
		{"a/b", "cpuset.cpus", "1-0", syscall.EINVAL, "0-1"},
		{"a/b", "cpuset.cpus", "some", syscall.EINVAL, "0-1"},
		{"a/b", "cpuset.cpus", "0,1", 0, "0-1"},
		{"a/b", "cpuset.cpus", "0", 0, "0"},
		{"a/b", "cpuset.cpus.effective", "", 0, "1"},
		{"a/b", "cpuset.cpus", "\n", 0, ""},
		{"a/b", "cpuset.cpus.effective", "", 0, "1"},
		{"a", "cpuset.cpus.effective", "0", syscall.EINVAL, "1"},
	},
	"tasks keep running where a cgroup loses its CPUs": {
		{cgroup: "a/b"},
		{"a/b", "cpuset.cpus", "0", 0, "0"},
		{"a", "cpuset.cpus", "1", 0, "1"},
		{"a/b", "cpuset.cpus.effective", "", 0, "1"},
		{"a/b", "cpuset.cpus", "\n", syscall.ENOSPC, "0"},
		{"a", "cpuset.cpus", "\n", syscall.ENOSPC, "1"},
		{"a", "cpuset.cpus", "0-1", 0, "0-1"},
		{"a/b", "cpuset.cpus.effective", "", 0, "0"},
	},
	"memory nodes": {
		{"a", "cpuset.mems", "0", 0, "0"},
		{"a", "cpuset.mems", "900", syscall.EINVAL, "0"},
		{"a", "cpuset.mems", "\n", 0, ""},
	},
	"limits are whole pages": {
		{"a", "memory.high", "5000", 0, "4096"},
		{"a", "memory.high", "max", 0, "max"},
		{"a", "memory.max", "8M", 0, "8388608"},
		{"a", "memory.max", "8m", 0, "8388608"},
		{"a", "memory.max", "1g", 0, "1073741824"},
		{"a", "memory.max", "9223372036854771712", 0, "max"},
		{"a", "memory.max", "18446744073709551615", 0, "max"},
		{"a", "memory.min", "9223372036854775807", 0, "max"},
		{"a", "memory.low", "-1", syscall.EINVAL, "0"},
		{"a", "memory.low", "lots", syscall.EINVAL, "0"},
		{"a", "memory.low", "8 MB", syscall.EINVAL, "0"},
		{"a", "memory.low", "0x10000", 0, "65536"},
	},
	"a child may be promised more memory than its parent": {
		{"a", "memory.min", "4096", 0, "4096"},
		{"a/b", "memory.min", "1g", 0, "1073741824"},
		{"a", "memory.max", "8192", 0, "8192"},
		{"a/b", "memory.max", "1g", 0, "1073741824"},
	},
	"switches": {
		{"a", "memory.oom.group", "1", 0, "1"},
		{"a", "memory.oom.group", "2", syscall.EINVAL, "1"},
		{"a", "memory.oom.group", "yes", syscall.EINVAL, "1"},
	},
	"nothing can be reclaimed where nothing is": {
		{"a", "memory.reclaim", "0", 0, ""},
		{"a", "memory.reclaim", "lots", syscall.EINVAL, ""},
		{"a", "memory.reclaim", "1m", syscall.EAGAIN, ""},
	},
	"statistics cannot be written": {
		{"a", "cpu.stat", "0", syscall.EINVAL, ""}, {"a", "memory.stat", "0", syscall.EINVAL, ""}, {"a", "memory.current", "0", syscall.EINVAL, ""},
	},
	"what is not there": {
		{"a", "cpu.shares", "2", syscall.ENOENT, ""}, {"a/c", "cpu.weight", "2", syscall.ENOENT, ""}, {"a", "cpu.bvt_warp_ns", "1", syscall.ENOENT, ""},
		{"a", "memory.wmark_ratio", "1", syscall.ENOENT, ""},
	},
}

// machine is a kernel, or the imitation of one.
type machine interface {
	files.FS
	make(cgroup string)
	enter(cgroup string)
}

type imitation struct{ *Tree }

func (i imitation) make(cgroup string)  { i.Make(cgroup) }
func (i imitation) enter(cgroup string) { i.Enter(cgroup, 1) }

// kernel is the one that runs.
type kernel struct{ *livecgroup.Tree }

func (k kernel) make(cgroup string)  { k.Make(cgroup) }
func (k kernel) enter(cgroup string) { k.Start(cgroup, work.Wait) }

func TestMain(m *testing.M) { livecgroup.Main(m) }

func TestTheImitationKeepsTheRules(t *testing.T) {
	for version, cases := range map[cgroup.Version]map[string][]step{cgroup.V1: casesV1, cgroup.V2: casesV2} {
		for name, steps := range cases {
			t.Run(fmt.Sprintf("version %d: %s", version, name), func(t *testing.T) { play(t, imitation{New(version, cpuset.Of(0, 1))}, version, "koord-test", steps) })
		}
	}
}

// TestTheKernelKeepsTheRules tests the version that is mounted. What version 1 shows depends on the CPUs that there are.
func TestTheKernelKeepsTheRules(t *testing.T) {
	tree := livecgroup.Open(t)
	cases := casesV2
	if tree.Version == cgroup.V1 {
		cases = casesV1
	}
	if len := tree.CPUs.Len(); len < 2 || tree.Version == cgroup.V1 && len != 2 {
		t.Skipf("%d CPUs, where the cases know of two", len)
	}
	for name, steps := range cases {
		t.Run(fmt.Sprintf("version %d: %s", tree.Version, name), func(t *testing.T) {
			live := livecgroup.Open(t)
			play(t, kernel{live}, live.Version, live.Root, steps)
		})
	}
}

// nothing is shown by a file without a line.
const nothing = "-"

func play(t *testing.T, on machine, version cgroup.Version, root string, steps []step) {
	on.make(root + "/a/b")
	for i, s := range steps {
		if s.file == "" {
			on.enter(root + "/" + s.cgroup)
			continue
		}
		path := root + "/" + s.cgroup + "/" + s.file
		if controller, file, split := strings.Cut(s.file, "/"); split {
			path = controller + "/" + root + "/" + s.cgroup + "/" + file
		}
		err := on.Write(path, s.value)
		if s.want == 0 && err != nil || s.want != 0 && !errors.Is(err, s.want) {
			t.Errorf("step %d: %q to %s: %v, want %v", i, s.value, path, err, s.want)
		}
		if s.wantShown == "" && s.value != "\n" {
			continue
		}
		content, err := on.Read(path, nil)
		if shown := strings.TrimSpace(string(content)); err != nil || shown != s.wantShown && (shown != "" || s.wantShown != nothing) {
			t.Errorf("step %d: %s shows %q, %v, want %q", i, path, shown, err, s.wantShown)
		}
	}
}
