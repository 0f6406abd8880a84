package cgroup

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

func TestSettingsOfDevices(t *testing.T) {
	const disk = "8:16"
	cost := "enable=1 ctrl=user rpct=95.00 rlat=3000 wpct=90.50 wlat=4000"
	tests := []struct {
		name    string
		setting Setting
		version Version
		value   string
		// wantWritten is what is written; empty for a value that no kernel takes.
		wantWritten string
		// shown by the kernel, and wantRead of it.
		shown, wantRead string
	}{
		{"a rate of version 1", IOReadBPS, V1, "1048576", "8:16 1048576", "8:0 5\n8:16 1048576", "1048576"},
		{"a rate of version 2", IOReadBPS, V2, "1048576", "8:16 rbps=1048576", "8:16 rbps=1048576 wbps=max riops=max wiops=7", "1048576"},
		{"no rate of version 1", IOWriteIOPS, V1, "0", "8:16 0", "8:160 5", "0"},
		{"no rate of version 2", IOWriteIOPS, V2, "0", "8:16 wiops=max", "8:16 rbps=1 wbps=max riops=max wiops=max", "0"},
		{"operations are counted in 32 bits", IOWriteIOPS, V1, "99999999999", "8:16 4294967294", "8:16 4294967294", "4294967294"},
		{"no kernel of version 2 takes one per second", IOReadIOPS, V2, "1", "8:16 riops=2", "8:16 riops=2", "2"},
		{"a rate below zero", IOReadBPS, V1, "-1", "", "", "0"},
		{"a weight", IOWeight, V2, "40", "8:16 40", "default 100\n8:16 40", "40"},
		{"no weight", IOWeight, V2, "0", "8:16 default", "default 100", "0"},
		{"a weight that is too large", IOBFQWeight, V2, "1001", "", "default 100", "0"},
		{"a latency", IOLatency, V2, "700", "8:16 target=700", "8:16 target=700", "700"},
		{"no latency", IOLatency, V2, "0", "8:16 target=0", "", "0"},
		{"a cost", IOCost, V2, "enable=1 ctrl=user rpct=95 rlat=3000 wpct=90.5 wlat=4000 min=7", disk + " " + cost, disk + " " + cost + " min=1.00 max=150.00", cost},
		{"a cost that is the kernel's own", IOCost, V2, "enable=0 ctrl=auto", "8:16 enable=0 ctrl=auto", "8:16 enable=0 ctrl=auto rpct=1.00 rlat=1", "enable=0 ctrl=auto"},
		{"a cost that never was", IOCost, V1, "enable=0 ctrl=auto", "8:16 enable=0 ctrl=auto", "", "enable=0 ctrl=auto"},
		{"a cost without a figure", IOCost, V2, "enable=1 ctrl=user rpct=95", "", "", "enable=0 ctrl=auto"},
		{"a cost beyond all percentages", IOCost, V2, strings.Replace(cost, "95.00", "101", 1), "", "", "enable=0 ctrl=auto"},
		{"a model", IOModel, V2, "ctrl=user rbps=1 rseqiops=2 rrandiops=3 wbps=4 wseqiops=5 wrandiops=6", "8:16 ctrl=user model=linear rbps=1 rseqiops=2 rrandiops=3 wbps=4 wseqiops=5 wrandiops=6", "8:16 ctrl=auto model=linear rbps=9", "ctrl=auto"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			setting := test.setting.On(disk)
			written, err := setting.Encode(test.version, test.value)
			if written != test.wantWritten || (err == nil) != (test.wantWritten != "") {
				t.Errorf("written is %q, %v, want %q", written, err, test.wantWritten)
			}
			if read, err := setting.Decode(test.version, test.shown); err != nil || read != test.wantRead {
				t.Errorf("read is %q, %v, want %q", read, err, test.wantRead)
			}
			// What is there can be written back, and reads the same then.
			own := setting.Own(test.version, test.shown)
			if again, err := setting.Decode(test.version, own); err != nil || again != test.wantRead {
				t.Errorf("%q is kept, and reads %q, %v, want %q", own, again, err, test.wantRead)
			}
			if found, known := ByKey(setting.Key()); !known || found != setting {
				t.Errorf("key %q finds %+v", setting.Key(), found)
			}
		})
	}
}

func TestKeysThatNameNoSetting(t *testing.T) {
	for _, key := range []string{"", "cpu.shares 8:16", "blkio.throttle.read_bps_device", "blkio.throttle.read_bps_device ../etc", "blkio.throttle.read_bps_device 8:", "none 8:16"} {
		if found, known := ByKey(key); known {
			t.Errorf("key %q finds %+v", key, found)
		}
	}
	if _, err := IOReadBPS.On("8:16\n8:0").Encode(V1, "5"); err == nil {
		t.Error("a line more than one can be written")
	}
}

func FuzzDevices(f *testing.F) {
	for _, content := range []string{"8:16 5", "8:16 rbps=1 wbps=max riops=x wiops=", "8:16 enable=1 ctrl=user rpct=NaN", "default 100\n8:16", "8:16 target=99999999999999999999",
		"8:16 1001", "8:16 10001", "8:16 5000000000", "8:16 riops=5000000000 wiops=5000000000", "8:16 target=9223372036854775807"} {
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content string) {
		for _, setting := range []Setting{IOReadBPS, IOWriteIOPS, IOWeight, IOBFQWeight, IOLatency, IOCost, IOModel} {
			for _, version := range []Version{V1, V2} {
				setting := setting.On("8:16")
				value, err := setting.Decode(version, content)
				if err != nil {
					continue
				}
				if own := setting.Own(version, content); own != content {
					if again, err := setting.Decode(version, own); err != nil || again != value {
						t.Errorf("%s of version %d: %q is kept as %q and reads %q, %v, want %q", setting.Name, version, content, own, again, err, value)
					}
				}
			}
		}
	})
}

func TestCgroupsOfApplicationsOutsideOfKubernetes(t *testing.T) {
	path := func(base slov1alpha1.CgroupBaseType, parent, relative string) *slov1alpha1.CgroupPath {
		return &slov1alpha1.CgroupPath{Base: base, ParentDir: parent, RelativePath: relative}
	}
	tests := []struct {
		name        string
		application slov1alpha1.HostApplicationSpec
		// want with cgroupfs and systemd; empty for none.
		want [2]string
	}{
		{"a service", slov1alpha1.HostApplicationSpec{QoS: extension.QoSLS}, [2]string{"host-latency-sensitive/app", "host-latency-sensitive/app"}},
		{"a best-effort one", slov1alpha1.HostApplicationSpec{QoS: extension.QoSBE}, [2]string{"kubepods/besteffort/host-best-effort/app", "kubepods.slice/kubepods-besteffort.slice/host-best-effort/app"}},
		{"at the top", slov1alpha1.HostApplicationSpec{CgroupPath: path("CgroupRoot", "/a/", "b/")}, [2]string{"a/b", "a/b"}},
		{"among burstable pods", slov1alpha1.HostApplicationSpec{CgroupPath: path("KubepodsBurstable", "", "b")}, [2]string{"kubepods/burstable/b", "kubepods.slice/kubepods-burstable.slice/b"}},
		{"the root", slov1alpha1.HostApplicationSpec{CgroupPath: path("CgroupRoot", "", "")}, [2]string{}},
		{"the root, by a detour", slov1alpha1.HostApplicationSpec{CgroupPath: path("CgroupRoot", "a", "..")}, [2]string{}},
		{"outside", slov1alpha1.HostApplicationSpec{CgroupPath: path("Kubepods", "a", "../../b")}, [2]string{}},
		{"somewhere else", slov1alpha1.HostApplicationSpec{CgroupPath: path("Home", "a", "b")}, [2]string{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.application.Name = "app"
			var got [2]string
			for i, driver := range []Driver{Cgroupfs, Systemd} {
				at, err := Layout{Version: V1, Driver: driver}.HostApplication(&test.application)
				if (err == nil) != (test.want[i] != "") {
					t.Errorf("driver %s: %v", driver, err)
				}
				got[i] = at
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("cgroups (-want +got):\n%s", diff)
			}
		})
	}
}
