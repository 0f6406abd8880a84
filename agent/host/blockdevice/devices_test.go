package blockdevice

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/host/kernelfs"
)

// machine has the disks vda, with two partitions, nvme0n1 and cciss/c0d0, and two volume groups: one on a partition, and one on
// two disks.
func machine() (proc, sys *kernelfs.Machine) {
	proc, sys = kernelfs.NewMachine(), kernelfs.NewMachine()
	proc.Show("partitions", `major minor  #blocks  name

 254        0  268435456 vda
 254        1        100 vda1
 254       12        100 vda12
 259        0        100 nvme0n1
 259        1        100 nvme0n1p1
 104        0        100 cciss/c0d0
 253        0        100 dm-0
 253        1        100 dm-1
 253        2        100 dm-2
   7        0 loop0`)
	for _, at := range []string{"vda/vda1", "vda/vda12", "nvme0n1/nvme0n1p1"} {
		disk, partition, _ := strings.Cut(at, "/")
		sys.Show("block/"+disk+"/"+partition+"/partition", "1")
		sys.Show("class/block/"+partition+"/partition", "1")
	}
	for dm, volume := range map[string]struct{ name, uuid, slaves string }{
		"dm-0": {"my--group-a--b", "LVM-1", "vda1"}, "dm-1": {"wide-lv", "LVM-2", "nvme0n1p1 cciss!c0d0"}, "dm-2": {"secret", "CRYPT-3", "vda12"},
	} {
		sys.Show("block/"+dm+"/dm/name", volume.name)
		sys.Show("block/"+dm+"/dm/uuid", volume.uuid)
		for slave := range strings.FieldsSeq(volume.slaves) {
			sys.Show("block/"+dm+"/slaves/"+slave, "")
		}
	}
	sys.Show("block/vda/queue/scheduler", "none mq-deadline [bfq]")
	sys.Show("block/nvme0n1/queue/scheduler", "[none] bfq")
	return proc, sys
}

func TestDevicesAreFoundByName(t *testing.T) {
	proc, sys := machine()
	got, err := Find(proc, sys)
	if err != nil {
		t.Fatal(err)
	}
	wantNames := map[string]string{
		"/dev/vda": "254:0", "/dev/vda1": "254:0", "/dev/vda12": "254:0", "/dev/nvme0n1": "259:0", "/dev/nvme0n1p1": "259:0",
		"/dev/cciss/c0d0": "104:0", "/dev/dm-0": "253:0", "/dev/dm-1": "253:1", "/dev/dm-2": "253:2",
		"/dev/mapper/my--group-a--b": "253:0", "/dev/my-group/a-b": "253:0", "/dev/mapper/wide-lv": "253:1", "/dev/wide/lv": "253:1", "/dev/mapper/secret": "253:2",
	}
	if diff := cmp.Diff(wantNames, got.Names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"my-group": "254:0"}, got.Groups); diff != "" {
		t.Errorf("volume groups (-want +got):\n%s", diff)
	}
	for device, want := range map[string]bool{"254:0": true, "259:0": false, "253:0": false, "1:1": false} {
		if got.WeighsByBFQ(sys, device) != want {
			t.Errorf("%s weighs by BFQ: %t", device, !want)
		}
	}
	if _, err := Find(kernelfs.NewMachine(), sys); err == nil {
		t.Error("devices are found without a list of them")
	}
}

func TestVolumesOfPods(t *testing.T) {
	proc, sys := machine()
	proc.Show("1/mountinfo", strings.Join([]string{
		"27 1 254:1 / / rw,relatime - ext4 /dev/vda1 rw",
		"28 27 253:0 / /var/lib/kubelet/pods/u1/volumes/kubernetes.io~csi/pvc-1/mount rw - ext4 /dev/dm-0 rw",
		"29 27 254:12 / /var/lib/kubelet/pods/u1/volumes/kubernetes.io~local-volume/disk rw - ext4 /dev/vda12 rw",
		`30 27 259:0 / /data/kubelet\040root/pods/u2/volumes/kubernetes.io~csi/b\134c rw - ext4 /dev/nvme0n1 rw`,
		"31 27 0:50 / /var/lib/kubelet/pods/u1/volumes/kubernetes.io~projected/token rw - tmpfs tmpfs rw",
		"32 27 254:1 / /var/lib/kubelet/pods/u1/volume-subpaths/x/main/0 rw - ext4 /dev/vda1 rw",
		"33 27 254:1 / /var/lib/kubelet/pods/u1/volumes/kubernetes.io~csi/pvc-1/mount/deeper rw - ext4 /dev/vda1 rw",
		"short 27",
	}, "\n"))
	devices, err := Find(proc, sys)
	if err != nil {
		t.Fatal(err)
	}
	got, err := devices.Volumes(proc)
	want := map[types.UID]map[string]string{"u1": {"pvc-1": "253:0", "disk": "254:0"}, "u2": {`b\c`: "259:0"}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("volumes (-want +got):\n%s%v", diff, err)
	}
}

func TestMountsOfAProcess(t *testing.T) {
	proc, sys := machine()
	proc.Show("77/mountinfo", strings.Join([]string{
		"27 1 0:50 / / rw - overlay overlay rw", "28 27 254:12 /sub /data rw - ext4 /dev/vda12 rw", `29 27 253:0 / /with\040blank rw - ext4 /dev/dm-0 rw`,
		"30 27 259:0 / /again rw - ext4 /dev/nvme0n1 rw", "31 27 253:0 / /again rw - ext4 /dev/dm-0 rw",
	}, "\n"))
	devices, err := Find(proc, sys)
	if err != nil {
		t.Fatal(err)
	}
	got, err := devices.Mounts(proc, 77)
	want := map[string]string{"/data": "254:0", "/with blank": "253:0", "/again": "253:0"}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("mounts (-want +got):\n%s%v", diff, err)
	}
	if _, err := devices.Mounts(proc, 78); !files.IsGone(err) {
		t.Errorf("a process that has ended: %v", err)
	}
}

func TestThisMachine(t *testing.T) {
	proc, err := files.NewReal("/proc")
	if err != nil {
		t.Skip(err)
	}
	defer proc.Close()
	sys, err := files.NewReal("/sys")
	if err != nil {
		t.Skip(err)
	}
	defer sys.Close()
	devices, err := Find(proc, sys)
	if err != nil {
		t.Skip(err)
	}
	for name, device := range devices.Names {
		number, err := os.ReadFile("/sys/dev/block/" + device + "/dev")
		if err != nil || strings.TrimSpace(string(number)) != device {
			t.Errorf("%s is %s, which the kernel has as %q, %v", name, device, number, err)
		}
		if _, err := os.Stat("/sys/dev/block/" + device + "/partition"); err == nil {
			t.Errorf("%s is %s, which is a partition", name, device)
		}
	}
}

func FuzzMounts(f *testing.F) {
	f.Add("28 27 253:0 / /var/lib/kubelet/pods/u1/volumes/csi/pvc/mount rw - ext4 /dev/dm-0 rw")
	f.Add(`1 2 3:4 / \1\0400/pods/ x`)
	f.Fuzz(func(t *testing.T, content string) {
		proc, sys := kernelfs.NewMachine(), kernelfs.NewMachine()
		proc.Show("partitions", content)
		proc.Show("1/mountinfo", content)
		devices, err := Find(proc, sys)
		if err != nil {
			t.Fatal(err)
		}
		volumes, err := devices.Volumes(proc)
		if err != nil {
			t.Fatal(err)
		}
		for uid, names := range volumes {
			for name := range names {
				if uid == "" || name == "" {
					t.Errorf("%q has volume %q of %q", content, name, uid)
				}
			}
		}
	})
}
