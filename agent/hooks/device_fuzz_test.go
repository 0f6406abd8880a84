package hooks

import (
	"fmt"
	"strings"
	"testing"

	"koordinator.sh/koord/agent/host/kernelfs"
)

// FuzzDeviceNumbers: the numbers of a device are those that the kernel wrote, within what it has, or it is an error.
func FuzzDeviceNumbers(f *testing.F) {
	f.Add("231:192\n")
	f.Add("10:58\n")
	for _, seed := range []string{"", ":", "1:", ":1", "-1:2", "1:-2", "+1:2", "1:2:3", "1:2 x", "1 :2", "0x1:2", "4096:0", "0:1048576", "99999999999999999999:1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) {
		sys := kernelfs.NewMachine()
		sys.Show("class/misc/rdma_cm/dev", content)
		device, err := deviceAt(sys, "class/misc/rdma_cm")
		if err != nil {
			if device != (Device{}) {
				t.Errorf("%+v beside %v", device, err)
			}
			return
		}
		if device.Major < 0 || device.Major >= 1<<12 || device.Minor < 0 || device.Minor >= 1<<20 || device.Path != "/dev/infiniband/rdma_cm" {
			t.Errorf("%q is %+v", content, device)
		}
		major, minor, _ := strings.Cut(strings.TrimSpace(content), ":")
		if want := fmt.Sprintf("%d:%d", device.Major, device.Minor); strings.TrimLeft(major, "0") != strings.TrimLeft(fmt.Sprint(device.Major), "0") || strings.TrimLeft(minor, "0") != strings.TrimLeft(fmt.Sprint(device.Minor), "0") {
			t.Errorf("%q is %s", content, want)
		}
	})
}
