package process

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/host/kernelfs"
)

func TestPodOfAProcess(t *testing.T) {
	const uid = "8dad9fb5-b9d1-4c4d-9ab5-2b4a3b1c9d7e"
	tests := map[string]struct {
		driver  cgroup.Driver
		content string
		want    types.UID
	}{
		"version 1": {cgroup.Cgroupfs, "12:pids:/kubepods/besteffort/pod" + uid + "/0123\n2:cpu,cpuacct:/kubepods/besteffort/pod" + uid + "/0123\n1:name=systemd:/\n", uid},
		"version 2, by systemd": {
			cgroup.Systemd, "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod8dad9fb5_b9d1_4c4d_9ab5_2b4a3b1c9d7e.slice/cri-containerd-0123.scope\n", uid,
		},
		"from within a namespace of cgroups": {cgroup.Cgroupfs, "0::/../../kubepods/pod" + uid + "/0123/init\n", uid},
		"a daemon of the machine":            {cgroup.Systemd, "0::/system.slice/containerd.service\n", ""},
		"the root":                           {cgroup.Cgroupfs, "0::/\n", ""},
		"nothing":                            {cgroup.Cgroupfs, "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			proc := kernelfs.NewMachine()
			proc.Show("7/cgroup", test.content)
			if got, found := PodOf(proc, cgroup.Layout{Driver: test.driver}, 7); got != test.want || found != (test.want != "") {
				t.Errorf("pod %q, %t; want %q", got, found, test.want)
			}
			if got, found := PodOf(proc, cgroup.Layout{Driver: test.driver}, 8); found {
				t.Errorf("a process that has ended is of pod %q", got)
			}
		})
	}
}

// longest is how long the kernel's longest path of a cgroup is.
const longest = 4096

// TestCgroupsOfAProcess are each there once, whatever the number of hierarchies; what is no list of cgroups is an error.
func TestCgroupsOfAProcess(t *testing.T) {
	tests := map[string]struct {
		content string
		want    []string
		wantErr bool
	}{
		"version 2":                         {content: "0::/kubepods/pod1\n", want: []string{"/kubepods/pod1"}},
		"version 1, all hierarchies alike":  {content: "3:cpu,cpuacct:/kubepods/pod1\n2:memory:/kubepods/pod1\n1:name=systemd:/kubepods/pod1\n", want: []string{"/kubepods/pod1"}},
		"a hierarchy that was left out":     {content: "3:rdma:/\n2:memory:/kubepods/pod1\n0::/init.scope\n", want: []string{"/", "/init.scope", "/kubepods/pod1"}},
		"a name with a colon":               {content: "0::/cri:pod:1\n", want: []string{"/cri:pod:1"}},
		"a kernel built without any cgroup": {content: "", want: []string{}},
		"something else":                    {content: "Name:\tsleep\n", wantErr: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			directory := t.TempDir()
			if err := os.Mkdir(filepath.Join(directory, "7"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(directory, "7/cgroup"), []byte(test.content), 0o644); err != nil {
				t.Fatal(err)
			}
			proc, err := files.NewReal(directory)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = proc.Close() }() // nothing is buffered
			got, err := Cgroups(proc, 7)
			if (err != nil) != test.wantErr || !test.wantErr && !cmp.Equal(test.want, got) {
				t.Errorf("cgroups %q, error %v; want %q", got, err, test.want)
			}
			if _, err := Cgroups(proc, 8); !files.IsGone(err) {
				t.Errorf("error %v of a process that has ended", err)
			}
		})
	}
}

// FuzzPodOf: a pod that is found is one that the content names, and every pod is found below its own cgroup.
func FuzzPodOf(f *testing.F) {
	f.Add("2:cpu,cpuacct:/kubepods/besteffort/pod8dad9fb5-b9d1/0123\n1:name=systemd:/\n", "8dad9fb5-b9d1")
	f.Add("0::/kubepods.slice/kubepods-pod8dad9fb5_b9d1.slice/cri-containerd-0123.scope\n", "a")
	f.Add("0::/../../pod..", "..")
	f.Add("0::/kubepods/pod/pod \x00\npodx", "")
	f.Fuzz(func(t *testing.T, content, uid string) {
		for _, layout := range []cgroup.Layout{{Driver: cgroup.Cgroupfs}, {Driver: cgroup.Systemd}} {
			proc := kernelfs.NewMachine()
			proc.Show("1/cgroup", content)
			if found, is := PodOf(proc, layout, 1); is && (found == "" || layout.Driver == cgroup.Cgroupfs && !strings.Contains(content, "pod"+string(found))) {
				t.Errorf("%q is of pod %q", content, found)
			}
			at := layout.Pod(corev1.PodQOSBurstable, types.UID(uid))
			want, named := layout.PodOf(path.Base(at))
			proc.Show("1/cgroup", "3:cpu:/\n0::/"+at+"/container\n")
			if strings.ContainsAny(at, "\n") || len(at) > longest {
				continue // no kernel writes that
			}
			if found, is := PodOf(proc, layout, 1); is != named || found != want {
				t.Errorf("%q is of pod %q, %t; want %q, %t", at, found, is, want, named)
			}
		}
	})
}
