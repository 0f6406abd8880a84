package qos

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/api/extension"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/decision/core/cpuset"
)

// TestCPUsThatKubeletGivesStay: under the policy static it binds guaranteed pods that request whole CPUs, whatever their class here.
func TestCPUsThatKubeletGivesStay(t *testing.T) {
	labels := map[string]string{extension.LabelPodQoS: "LS"}
	given := map[string]string{extension.AnnotationResourceStatus: `{"cpuset":"4-5"}`}
	tests := map[string]struct {
		policy string
		pod    *corev1.Pod
		want   string
	}{
		"whole CPUs under the policy static": {"static", running("p", corev1.PodQOSGuaranteed, labels, nil, list("cpu", "2")), ""},
		"parts of them":                      {"static", running("p", corev1.PodQOSGuaranteed, labels, nil, list("cpu", "1500m")), "0-3"},
		"a burstable pod":                    {"static", running("p", corev1.PodQOSBurstable, labels, nil, list("cpu", "2")), "0-3"},
		"CPUs of the scheduler":              {"static", running("p", corev1.PodQOSGuaranteed, map[string]string{extension.LabelPodQoS: "LSR"}, given, list("cpu", "2")), "4-5"},
		"a SYSTEM pod":                       {"static", running("p", corev1.PodQOSGuaranteed, map[string]string{extension.LabelPodQoS: "SYSTEM"}, nil, list("cpu", "2")), "6"},
		"a kubelet that binds nobody":        {"none", running("p", corev1.PodQOSGuaranteed, labels, nil, list("cpu", "2")), "0-3"},
		"a kubelet unknown":                  {"", running("p", corev1.PodQOSGuaranteed, labels, nil, list("cpu", "2")), "0-3"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, cgroup.V2, []Feature{CPUSetAllocator{}}, tc.pod)
			annotations := map[string]string{extension.AnnotationNodeCPUSharedPools: `[{"socket":0,"node":0,"cpuset":"0-3"}]`, extension.AnnotationSystemQOSResource: `{"cpuset":"6"}`}
			if tc.policy != "" {
				annotations[extension.AnnotationKubeletCPUManagerPolicy] = `{"policy":"` + tc.policy + `"}`
			}
			n.in.Reported = &topologyv1alpha1.NodeResourceTopology{ObjectMeta: metav1.ObjectMeta{Annotations: annotations}}
			n.round()
			if got, _ := n.in.read(cgroup.CPUSet, n.podGroup(n.in.Pods[0])+"/"+id); got != tc.want {
				t.Errorf("CPUs %q, want %q", got, tc.want)
			}
		})
	}
}

// built declares the machine's CPUs: all below a number except some.
func (n *node) built(cpus int, but ...int) {
	n.Helper()
	var detail []extension.CPUInfo
	for id := range cpus {
		if !slices.Contains(but, id) {
			detail = append(detail, extension.CPUInfo{ID: int32(id), Core: int32(id), Socket: 0, Node: 0})
		}
	}
	topology, err := cpuset.NewTopology(&extension.CPUTopology{Detail: detail})
	if err != nil {
		n.Fatal(err)
	}
	n.in.Topology = topology
}

// cpusOf is what a container of the first pod is given.
func (n *node) cpusOf(id string) string {
	n.Helper()
	cpus, read := n.in.read(cgroup.CPUSet, n.podGroup(n.in.Pods[0])+"/"+id)
	if !read {
		n.Fatalf("the CPUs of container %s cannot be read", id)
	}
	return cpus
}

// TestAPodKeepsThoseOfItsCPUsThatAreOnline, also in a container that starts meanwhile; with a list that has one that is offline the kernel
// would leave it on the CPUs of all.
func TestAPodKeepsThoseOfItsCPUsThatAreOnline(t *testing.T) {
	versions(t, func(t *testing.T, version cgroup.Version) {
		n := newNode(t, version, []Feature{CPUSetAllocator{}}, boundPod)
		n.built(10)
		n.round()
		n.kernel.Offline(5, 9)
		n.built(10, 5, 9)
		n.round()
		n.ends(0)
		again := strings.Repeat("fedcba9876543210", 4)
		n.startsAgain(0, again)
		n.round()
		if got := n.cpusOf(again); got != "4" {
			t.Errorf("CPUs %q, want the one of 4-5 that is online", got)
		}
		want := map[string][]string{"CPUSetAllocator": {"pod ns/bound: of CPUs 4-5, 5 are offline"}}
		if diff := cmp.Diff(want, Problems(n.in)); diff != "" {
			t.Errorf("problems (-want +got):\n%s", diff)
		}
		n.kernel.Enter(n.podGroup(n.in.Pods[0])+"/"+again, 1)
		n.kernel.Offline(4)
		n.built(10, 4, 5, 9)
		n.round()
		want = map[string][]string{"CPUSetAllocator": {"pod ns/bound: of CPUs 4-5, 4-5 are offline"}}
		if diff := cmp.Diff(want, Problems(n.in)); diff != "" {
			t.Errorf("problems (-want +got):\n%s", diff)
		}
		// Version 1 has moved the tasks to the cgroup above.
		if got, all := n.cpusOf(again), map[cgroup.Version]string{cgroup.V1: "", cgroup.V2: "0-3,6-8"}[version]; got != all {
			t.Errorf("CPUs %q of a pod that has none of its own any more, want %q", got, all)
		}
	})
}

// TestCPUsAreGivenBackThoughOneWentOffline: the rest of what a container had, where the kernel refuses all of it.
func TestCPUsAreGivenBackThoughOneWentOffline(t *testing.T) {
	for name, back := range map[string]bool{"it is offline": false, "it is back, but not in the cgroups above": true} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, cgroup.V1, []Feature{CPUSetAllocator{}}, boundPod)
			n.built(10)
			n.round()
			n.kernel.Offline(9)
			if back {
				n.kernel.Online(9)
			}
			outcome, err := n.writer.Restore(t.Context())
			if err != nil || outcome.Err() != nil {
				t.Fatal(err, outcome.Err())
			}
			if got := n.cpusOf(id); got != "0-8" {
				t.Errorf("CPUs %q were given back, want 0-8", got)
			}
		})
	}
}
