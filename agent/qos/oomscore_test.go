package qos

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/api/extension"
)

// oomNode has a service with two processes, whose annotation is given, and others.
func oomNode(t *testing.T, version cgroup.Version, annotations map[string]string) *node {
	pod := running("service", corev1.PodQOSBurstable, map[string]string{extension.LabelPodQoS: "LS"}, annotations, list("memory", "10Gi"))
	n := newNode(t, version, []Feature{&OOMScoreAdj{}}, pod)
	container := "kubepods/burstable/podservice/" + id
	n.kernel.Make("kubepods/burstable/podservice/sandbox")
	n.kernel.Show(container, "cgroup.procs", "11\n12\n0")
	n.kernel.Show("kubepods/burstable/podservice/sandbox", "cgroup.procs", "9")
	n.proc.Start(1, 1, "", 0)
	n.proc.Start(9, 5, "kubepods/burstable/podservice/sandbox", -998)
	n.proc.Start(11, 100, container, 900)
	n.proc.Start(12, 101, container, 900)
	n.begin()
	return n
}

func TestScoresOfContainers(t *testing.T) {
	versions(t, func(t *testing.T, version cgroup.Version) {
		n := oomNode(t, version, map[string]string{extension.AnnotationOOMScoreAdj: "-100"})
		n.round()
		n.wantChanged(map[string]string{"/proc/11/oom_score_adj": "-100", "/proc/12/oom_score_adj": "-100"})
		n.wantSteady()
		n.wantRestored(nil)
	})
}

func TestTheScoreOfOneContainer(t *testing.T) {
	n := oomNode(t, cgroup.V2, map[string]string{extension.AnnotationOOMScoreAdjSpec: `{"other":5}`})
	n.wantSteady()
	n = oomNode(t, cgroup.V2, map[string]string{extension.AnnotationOOMScoreAdjSpec: `{"main":7}`, extension.AnnotationOOMScoreAdj: "3"})
	n.round()
	n.wantChanged(map[string]string{"/proc/11/oom_score_adj": "7", "/proc/12/oom_score_adj": "7"})
}

func TestAProcessThatWasStartedByAnotherGetsKubeletsScoreBack(t *testing.T) {
	n := oomNode(t, cgroup.V1, map[string]string{extension.AnnotationOOMScoreAdj: "-100"})
	n.round()
	n.proc.Start(13, 500, "kubepods/burstable/podservice/"+id, -100)
	n.kernel.Show("kubepods/burstable/podservice/"+id, "cgroup.procs", "11\n12\n13")
	n.in.Now = n.in.Now.Add(processListInterval)
	if writes := n.round(); writes > 0 {
		t.Errorf("%d writes to a process that has the score", writes)
	}
	n.wantRestored(map[string]string{"/proc/13/oom_score_adj": "900"})
}

// A sidecar is killed no earlier than the containers that it serves, so that kubelet's score for it is one of theirs.
func TestKubeletsScoreOfASidecar(t *testing.T) {
	container := func(name, memory string) corev1.Container {
		return corev1.Container{Name: name, Resources: corev1.ResourceRequirements{Requests: list("memory", memory)}}
	}
	pod := running("service", corev1.PodQOSBurstable, nil, nil, nil)
	pod.Spec.Containers = []corev1.Container{container("main", "20Gi"), container("small", "10Gi")}
	pod.Spec.InitContainers = []corev1.Container{container("once", "1Gi"), container("proxy", "1Gi"), container("large", "30Gi")}
	for i := 1; i < 3; i++ {
		pod.Spec.InitContainers[i].RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
	}
	n := newNode(t, cgroup.V2, nil, pod)
	for name, want := range map[string]int64{"main": 800, "small": 900, "once": 990, "proxy": 900, "large": 700, "unknown": 999} {
		if got := kubeletScore(n.in, n.in.Pods[0], name); got != want {
			t.Errorf("score %d of %s, want %d", got, name, want)
		}
	}
}

// A number that is given to another process must never be mistaken for the container's.
func TestAForeignProcessIsNeverTouched(t *testing.T) {
	replacements := map[string]func(n *node){
		"started later":        func(n *node) { n.proc.Start(12, 900, "kubepods/burstable/podservice/"+id, 333) },
		"in another cgroup":    func(n *node) { n.proc.Start(12, 101, "system/sshd", 333) },
		"in a cgroup below it": func(n *node) { n.proc.Start(12, 101, "kubepods/burstable/podservice/"+id+"/x", 333) },
	}
	for name, replace := range replacements {
		t.Run("while it is set, "+name, func(t *testing.T) {
			n := oomNode(t, cgroup.V1, map[string]string{extension.AnnotationOOMScoreAdj: "-100"})
			n.features[0].DesiredValues(n.in) // the processes are listed
			replace(n)
			n.round()
			n.wantChanged(map[string]string{"/proc/11/oom_score_adj": "-100", "/proc/12/oom_score_adj": "333"})
		})
		t.Run("while it is given back, "+name, func(t *testing.T) {
			n := oomNode(t, cgroup.V1, map[string]string{extension.AnnotationOOMScoreAdj: "-100"})
			n.round()
			replace(n)
			n.wantRestored(map[string]string{"/proc/12/oom_score_adj": "333"})
		})
	}
}

func TestProcessesThatEndAreNoFailure(t *testing.T) {
	n := oomNode(t, cgroup.V2, map[string]string{extension.AnnotationOOMScoreAdj: "-100"})
	n.features[0].DesiredValues(n.in)
	n.proc.End(11)
	delete(n.before, "/proc/11/oom_score_adj")
	n.round()
	n.wantChanged(map[string]string{"/proc/12/oom_score_adj": "-100"})
	n.proc.End(12)
	delete(n.before, "/proc/12/oom_score_adj")
	n.in.Now = n.in.Now.Add(time.Hour)
	n.round()
	n.wantRestored(nil)
}
