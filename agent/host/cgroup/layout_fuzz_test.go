package cgroup

import (
	"path"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// FuzzNames: names of cgroups that are those of pods and containers have a UID and an ID that lead back to them.
func FuzzNames(f *testing.F) {
	for _, seed := range []string{
		"pod" + string(uid), "kubepods-besteffort-pod8dad9fb5_b9d1.slice", "cri-containerd-" + container + ".scope", container, "crio-" + container,
		"pod../..", "kubepods-pod/.slice", "", "pod\x00", "docker-.scope",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		for _, driver := range []Driver{Cgroupfs, Systemd} {
			layout := Layout{Driver: driver}
			if found, is := layout.PodOf(name); is {
				for _, class := range []corev1.PodQOSClass{corev1.PodQOSGuaranteed, corev1.PodQOSBurstable, corev1.PodQOSBestEffort} {
					above := layout.QoS(class)
					if rest, below := strings.CutPrefix(layout.Pod(class, found), above+"/"); !below || strings.Contains(rest, "/") {
						t.Errorf("%q is pod %q at %q", name, found, layout.Pod(class, found))
					}
				}
			}
			if id, is := layout.ContainerOf(name); is && (len(id) != 64 || strings.ContainsAny(id, "/.")) {
				t.Errorf("%q is container %q", name, id)
			}
		}
	})
}

// FuzzHostApplication: no application's cgroup is outside of its base.
func FuzzHostApplication(f *testing.F) {
	f.Add("nginx", "CgroupRoot", "a", "b")
	f.Add("../..", "Kubepods", "..", "../x")
	f.Add("a", "KubeBesteffort", "/etc", "\x00")
	f.Fuzz(func(t *testing.T, name, base, parent, relative string) {
		layout := Layout{Driver: Systemd}
		for _, path := range []*slov1alpha1.CgroupPath{nil, {Base: slov1alpha1.CgroupBaseType(base), ParentDir: parent, RelativePath: relative}} {
			at, err := layout.HostApplication(&slov1alpha1.HostApplicationSpec{Name: name, CgroupPath: path})
			if err == nil && (at == "" || at == "." || at[0] == '/' || strings.HasPrefix(at, "..") && (len(at) == 2 || at[2] == '/') || strings.ContainsRune(at, 0)) {
				t.Errorf("%q of %+v is at %q", name, path, at)
			}
		}
	})
}

// TestAUIDIsOneName whatever it is.
func TestAUIDIsOneName(t *testing.T) {
	for of, want := range map[types.UID]string{"../../x": "kubepods/burstable/pod.._.._x", "a/b": "kubepods/burstable/poda_b", "\x00": "kubepods/burstable/pod_"} {
		if got := (Layout{Driver: Cgroupfs}).Pod(corev1.PodQOSBurstable, of); got != want {
			t.Errorf("%q is at %q, want %q", of, got, want)
		}
	}
}

// FuzzForeign: what is accepted is a clean path below the cgroup of best-effort pods, and in no pod's.
func FuzzForeign(f *testing.F) {
	for _, directory := range []string{
		"kubepods/besteffort/hadoop-yarn/c1", "/kubepods/besteffort/hadoop-yarn/c1/", "kubepods/besteffort/../burstable/c1", "kubepods/besteffort/pod1/c1",
		"kubepods.slice/kubepods-besteffort.slice/hadoop-yarn/c1", "kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod1.slice/c1", "", "a\x00b",
	} {
		f.Add(directory)
	}
	f.Fuzz(func(t *testing.T, directory string) {
		for _, driver := range []Driver{Cgroupfs, Systemd} {
			layout := Layout{Version: V2, Driver: driver}
			got, err := layout.Foreign(directory)
			if err != nil {
				continue
			}
			within, isBelow := strings.CutPrefix(got, layout.QoS(corev1.PodQOSBestEffort)+"/")
			first, _, _ := strings.Cut(within, "/")
			if _, isPod := layout.PodOf(first); !isBelow || isPod || within == "" || got != path.Clean(got) || strings.Contains(got, "\x00") {
				t.Errorf("Foreign(%q) = %q", directory, got)
			}
		}
	})
}
