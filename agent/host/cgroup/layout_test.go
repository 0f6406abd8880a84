package cgroup

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	uid       = types.UID("8dad9fb5-b9d1-4d93-a5d4-1f6c2e6f7a11")
	container = "3f1c4b7e9a0d2c5f8e6b1a3d4c7f9e0b2a5d8c1f4e7b0a3d6c9f2e5b8a1d4c7f"
)

func TestCgroupsOfPods(t *testing.T) {
	tests := []struct {
		name   string
		layout Layout
		class  corev1.PodQOSClass
		want   string
	}{
		{name: "guaranteed", layout: Layout{Driver: Cgroupfs}, class: corev1.PodQOSGuaranteed, want: "kubepods/pod8dad9fb5-b9d1-4d93-a5d4-1f6c2e6f7a11"},
		{name: "best effort", layout: Layout{Driver: Cgroupfs}, class: corev1.PodQOSBestEffort, want: "kubepods/besteffort/pod8dad9fb5-b9d1-4d93-a5d4-1f6c2e6f7a11"},
		{
			name: "guaranteed, systemd", layout: Layout{Driver: Systemd}, class: corev1.PodQOSGuaranteed,
			want: "kubepods.slice/kubepods-pod8dad9fb5_b9d1_4d93_a5d4_1f6c2e6f7a11.slice",
		},
		{
			name: "burstable, systemd", layout: Layout{Driver: Systemd}, class: corev1.PodQOSBurstable,
			want: "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod8dad9fb5_b9d1_4d93_a5d4_1f6c2e6f7a11.slice",
		},
		{name: "below a cgroup of its own", layout: Layout{Driver: Cgroupfs, Parent: "k"}, class: corev1.PodQOSBurstable, want: "k/kubepods/burstable/pod8dad9fb5-b9d1-4d93-a5d4-1f6c2e6f7a11"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := test.layout.Pod(test.class, uid)
			if got != test.want {
				t.Errorf("cgroup %q, want %q", got, test.want)
			}
			name := got[len(test.layout.QoS(test.class))+1:]
			if back, isPod := test.layout.PodOf(name); !isPod || back != uid {
				t.Errorf("%q is of pod %q, %v", name, back, isPod)
			}
		})
	}
}

func TestCgroupsThatAreNoPods(t *testing.T) {
	for _, name := range []string{"", "pod", "burstable", "kubepods-burstable.slice", "user-pod1.slice", "kubepods-pod.slice"} {
		if uid, isPod := (Layout{Driver: Systemd}).PodOf(name); isPod {
			t.Errorf("%q is taken for pod %q", name, uid)
		}
	}
	for _, name := range []string{"", "pod", "burstable", "besteffort"} {
		if uid, isPod := (Layout{Driver: Cgroupfs}).PodOf(name); isPod {
			t.Errorf("%q is taken for pod %q", name, uid)
		}
	}
}

func TestContainersByRuntime(t *testing.T) {
	for name, want := range map[string]bool{
		container: true, "crio-" + container: true, "crio-conmon-" + container: false, "cri-containerd-" + container: true, container[:12]: false,
		"../" + container: false,
	} {
		if id, is := (Layout{Driver: Cgroupfs}).ContainerOf(name); is != want || is && id != container {
			t.Errorf("cgroup %q is container %q, %v", name, id, is)
		}
	}
	for name, want := range map[string]bool{
		"cri-containerd-" + container + ".scope": true, "crio-" + container + ".scope": true, "docker-" + container + ".scope": true,
		"crio-conmon-" + container + ".scope": false, container: false,
	} {
		if id, is := (Layout{Driver: Systemd}).ContainerOf(name); is != want || is && id != container {
			t.Errorf("cgroup %q is container %q, %v", name, id, is)
		}
	}
}
