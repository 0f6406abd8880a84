package kernelfs

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/test/livecgroup"
)

// Cases of block devices; DISK stands for one of the machine's.
var deviceCasesV1 = map[string][]step{
	"a rate is of one device, and none is not shown": {
		{"a", "blkio/blkio.throttle.read_bps_device", "DISK 1048576", 0, "DISK 1048576"},
		{"a", "blkio/blkio.throttle.read_bps_device", "9999:9 5", syscall.ENODEV, "DISK 1048576"},
		{"a", "blkio/blkio.throttle.read_bps_device", "DISK", syscall.EINVAL, "DISK 1048576"},
		{"a", "blkio/blkio.throttle.read_bps_device", "DISK max", syscall.EINVAL, "DISK 1048576"},
		{"a", "blkio/blkio.throttle.read_bps_device", "DISK 0", 0, "-"},
	},
	"operations are counted in 32 bits": {
		{"a", "blkio/blkio.throttle.write_iops_device", "DISK 4294967299", 0, "DISK 3"},
		{"a", "blkio/blkio.throttle.write_iops_device", "DISK 0", 0, "-"},
	},
	"weights need the scheduler that knows them": {
		{"a", "blkio/blkio.bfq.weight_device", "DISK 300", syscall.EOPNOTSUPP, "default 100"},
	},
}

var deviceCasesV2 = map[string][]step{
	"rates are of one device, and only the written ones change": {
		{"a", "io.max", "DISK rbps=1048576", 0, "DISK rbps=1048576 wbps=max riops=max wiops=max"},
		{"a", "io.max", "DISK wiops=120", 0, "DISK rbps=1048576 wbps=max riops=max wiops=120"},
		{"a", "io.max", "9999:9 rbps=5000", syscall.ENODEV, ""},
		{"a", "io.max", "DISK rbps=0", syscall.ERANGE, ""},
		{"a", "io.max", "DISK speed=5", syscall.EINVAL, ""},
		{"a", "io.max", "DISK rbps=max wiops=max", 0, "-"},
	},
	"rates have a least": {
		{"a", "io.max", "DISK rbps=1", syscall.EINVAL, "-"},
		{"a", "io.max", "DISK riops=1", syscall.EINVAL, "-"},
		{"a", "io.max", "DISK rbps=2 wiops=2", 0, "DISK rbps=2 wbps=max riops=max wiops=2"},
		{"a", "io.max", "DISK riops=4294967294", 0, "DISK rbps=2 wbps=max riops=4294967294 wiops=2"},
		{"a", "io.max", "DISK riops=5000000000", 0, "DISK rbps=2 wbps=max riops=max wiops=2"},
		{"a", "io.max", "DISK rbps=lots", syscall.EINVAL, ""},
		{"a", "io.max", "DISK", syscall.EINVAL, "DISK rbps=2 wbps=max riops=max wiops=2"},
		{"a", "io.max", "rbps=5000", syscall.EINVAL, ""},
	},
	"a device that is not governed by cost has no weights": {
		{"a", "io.weight", "DISK 200", syscall.EOPNOTSUPP, "default 100"},
		{"a", "io.weight", "default 300", 0, "default 300"},
		{"a", "io.weight", "200", 0, "default 200"},
		{"a", "io.weight", "0", syscall.EINVAL, "default 200"},
		{"a", "io.weight", "10001", syscall.EINVAL, "default 200"},
	},
}

func disk(cases map[string][]step, device string) map[string][]step {
	out := map[string][]step{}
	for name, steps := range cases {
		for _, s := range steps {
			s.value, s.wantShown = strings.ReplaceAll(s.value, "DISK", device), strings.ReplaceAll(s.wantShown, "DISK", device)
			out[name] = append(out[name], s)
		}
	}
	return out
}

func TestTheImitationKeepsTheRulesOfDevices(t *testing.T) {
	for version, cases := range map[cgroup.Version]map[string][]step{cgroup.V1: deviceCasesV1, cgroup.V2: deviceCasesV2} {
		for name, steps := range disk(cases, "254:0") {
			t.Run(fmt.Sprintf("version %d: %s", version, name), func(t *testing.T) {
				play(t, imitation{New(version, cpuset.Of(0, 1))}, version, "koord-test", steps)
			})
		}
	}
}

func TestTheKernelKeepsTheRulesOfDevices(t *testing.T) {
	device := ""
	for _, name := range []string{"vda", "sda", "nvme0n1", "loop0"} {
		scheduler, _ := os.ReadFile("/sys/block/" + name + "/queue/scheduler")
		if number, err := os.ReadFile("/sys/block/" + name + "/dev"); err == nil && !strings.Contains(string(scheduler), "[bfq]") {
			device = strings.TrimSpace(string(number))
			break
		}
	}
	if device == "" {
		t.Skip("no block device")
	}
	tree := livecgroup.Open(t)
	cases := deviceCasesV2
	if tree.Version == cgroup.V1 {
		cases = deviceCasesV1
	}
	for name, steps := range disk(cases, device) {
		t.Run(fmt.Sprintf("version %d: %s", tree.Version, name), func(t *testing.T) {
			live := livecgroup.Open(t)
			play(t, kernel{live}, live.Version, live.Root, steps)
		})
	}
}
