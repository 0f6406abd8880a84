package parameter

import (
	"os"
	"strings"
	"testing"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/host/kernelfs"
	"koordinator.sh/koord/decision/nodeqos/sysctl"
)

func TestParameters(t *testing.T) {
	const features = "PLACE_LAG NO_NEXT_BUDDY NO_PLACE_LAG_MORE"
	tests := []struct {
		name    string
		setting sysctl.Setting
		// content of the file, wantRead of it, and whether the value can be written.
		content, wantRead string
		wantWritten       bool
	}{
		{"a number", sysctl.Setting{Name: sysctl.MinFreeKbytes, Value: "70000"}, "67584\n", "67584", true},
		{"a number out of bounds", sysctl.Setting{Name: sysctl.WatermarkScaleFactor, Value: "3001"}, "10\n", "10", false},
		{"a switch", sysctl.Setting{Name: sysctl.MemcgReapBackground, Value: "1"}, "0\n", "0", true},
		{"no number", sysctl.Setting{Name: sysctl.SchedIdleSaverWmark, Value: "many"}, "5\n", "5", false},
		{"a feature that is on", sysctl.Setting{Name: sysctl.SchedFeatures, Value: "NO_PLACE_LAG"}, features, "PLACE_LAG", true},
		{"a feature that is off", sysctl.Setting{Name: sysctl.SchedFeatures, Value: "NEXT_BUDDY"}, features, "NO_NEXT_BUDDY", true},
		{"a feature that there is not", sysctl.Setting{Name: sysctl.SchedFeatures, Value: "LAG"}, features, "", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			found := Find(test.setting)
			if len(found) == 0 {
				t.Fatal("no parameter is found")
			}
			written, err := found[0].Encode(cgroup.V2, test.setting.Value)
			if (err == nil) != test.wantWritten || err == nil && written != test.setting.Value {
				t.Errorf("written is %q, %v", written, err)
			}
			read, err := found[0].Decode(cgroup.V2, test.content)
			if read != test.wantRead || (err == nil) != (test.wantRead != "") {
				t.Errorf("read is %q, %v, want %q", read, err, test.wantRead)
			}
			for _, p := range found {
				if again, known := ByKey(p.Key()); !known || again != p {
					t.Errorf("key %q finds %+v, %t", p.Key(), again, known)
				}
			}
		})
	}
	for _, key := range []string{"", "/proc/sys/vm/swappiness", "/proc/sys/vm/min_free_kbytes X", "/sys/kernel/debug/sched/features", "/sys/kernel/debug/sched/features A B"} {
		if found, known := ByKey(key); known {
			t.Errorf("key %q finds %+v", key, found)
		}
	}
}

func TestAKernelHasSome(t *testing.T) {
	proc, sys := kernelfs.NewMachine(), kernelfs.NewMachine()
	sys.Features("kernel/debug/sched_features", "A NO_B")
	for value, want := range map[string]int{"B": 1, "NO_A": 1, "C": 0} {
		got := 0
		for _, p := range Find(sysctl.Setting{Name: sysctl.SchedFeatures, Value: value}) {
			if p.Supported(proc, sys) {
				got++
			}
		}
		if got != want {
			t.Errorf("%d files have feature %s, want %d", got, value, want)
		}
	}
	if Find(sysctl.Setting{Name: sysctl.MinFreeKbytes})[0].Supported(nil, nil) {
		t.Error("a parameter is supported without a tree")
	}
}

func TestThisMachine(t *testing.T) {
	proc, err := files.NewReal("/proc")
	if err != nil {
		t.Skip(err)
	}
	defer proc.Close()
	for _, name := range []string{sysctl.MinFreeKbytes, sysctl.WatermarkScaleFactor} {
		p := Find(sysctl.Setting{Name: name})[0]
		tree, path, _ := p.Locate(cgroup.Layout{}, "")
		content, err := os.ReadFile("/" + tree.Prefix() + path)
		if err != nil {
			t.Skip(err)
		}
		if read, err := p.Decode(cgroup.V1, string(content)); err != nil || read != strings.TrimSpace(string(content)) || !p.Supported(proc, nil) {
			t.Errorf("%s reads %q, %v", name, read, err)
		}
	}
}
