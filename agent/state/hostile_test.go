package state

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/api/extension"
)

const static = "0123456789abcdef0123456789abcdef"

func TestOnlyKubeletNamesTheCgroupOfAPod(t *testing.T) {
	tests := map[string]struct {
		annotations map[string]string
		want        types.UID
	}{
		"a pod of the API":                   {nil, "uid"},
		"a mirror pod":                       {map[string]string{configHash: static, configMirror: static}, static},
		"an annotation that anybody may set": {map[string]string{configHash: static}, "uid"},
		"a mirror of another one":            {map[string]string{configHash: static, configMirror: "x"}, "uid"},
		"the UID of another pod": {
			map[string]string{configHash: "8dad9fb5-b9d1-4d93-a5d4-1f6c2e6f7a11", configMirror: "8dad9fb5-b9d1-4d93-a5d4-1f6c2e6f7a11"}, "uid",
		},
		"a path": {map[string]string{configHash: "../../../../system.slice/sshd..", configMirror: "../../../../system.slice/sshd.."}, "uid"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "uid", Annotations: tc.annotations}}
			if got := PodOf(pod).UID; got != tc.want {
				t.Errorf("cgroup of %q, want %q", got, tc.want)
			}
		})
	}
}

// TestHugeAnnotationsTakeNoTime reads a pod whose every annotation and label that is read is a megabyte.
func TestHugeAnnotationsTakeNoTime(t *testing.T) {
	for name, content := range map[string]string{
		"letters": strings.Repeat("a", 1<<20), "brackets": strings.Repeat("[", 1<<20), "a list of CPUs": `{"cpuset":"0-999999999"}`,
		"many CPUs": `{"cpuset":"` + strings.Repeat("1,", 1<<19) + `1"}`, "another script": strings.Repeat("协同\u202e\u0000", 1<<17),
		"no numbers": `{"ingressLimit":"NaN","egressLimit":"-1","cfsQuotaBurstPercent":-9223372036854775808}`,
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "uid", Labels: map[string]string{}, Annotations: map[string]string{configHash: content, configMirror: content}}}
			for _, key := range []string{extension.AnnotationResourceStatus, extension.AnnotationResourceSpec, extension.AnnotationPodCPUBurst, extension.AnnotationPodMemoryQOS} {
				pod.Annotations[key] = content
			}
			pod.Labels[extension.LabelPodQoS], pod.Labels[extension.LabelPodPriority] = content, content
			begun := time.Now()
			got := PodOf(pod)
			if elapsed := time.Since(begun); elapsed > 5*time.Second {
				t.Errorf("read in %s", elapsed)
			}
			if got.UID != "uid" || got.Owned.Len() > 10000 {
				t.Errorf("UID %q and %d CPUs", got.UID, got.Owned.Len())
			}
		})
	}
}

// FuzzCgroupOfPod: whatever a pod says, its cgroup is directly below that of its class.
func FuzzCgroupOfPod(f *testing.F) {
	f.Add("uid", static, static, "Burstable")
	f.Add("../../x", "../..", "../..", "..")
	f.Add("a/../../../b", "", "", "")
	f.Add("\x00", "/", "/", "../../system.slice")
	f.Fuzz(func(t *testing.T, uid, hash, mirror, class string) {
		pod := PodOf(&corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid), Annotations: map[string]string{configHash: hash, configMirror: mirror}},
			Status:     corev1.PodStatus{QOSClass: corev1.PodQOSClass(class)},
		})
		for _, driver := range []cgroup.Driver{cgroup.Cgroupfs, cgroup.Systemd} {
			layout := cgroup.Layout{Driver: driver}
			rest, below := strings.CutPrefix(layout.Pod(pod.Class(), pod.UID), layout.QoS(pod.Class())+"/")
			if !below || strings.ContainsAny(rest, "/\x00") || rest == "" || rest == ".." {
				t.Errorf("%q of class %q is at %q", pod.UID, pod.Class(), layout.Pod(pod.Class(), pod.UID))
			}
		}
	})
}
