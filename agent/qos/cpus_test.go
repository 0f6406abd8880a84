package qos

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/api/extension"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
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
		"whole CPUs under the policy static":  {"static", running("p", corev1.PodQOSGuaranteed, labels, nil, list("cpu", "2")), ""},
		"parts of them":                       {"static", running("p", corev1.PodQOSGuaranteed, labels, nil, list("cpu", "1500m")), "0-3"},
		"a burstable pod":                     {"static", running("p", corev1.PodQOSBurstable, labels, nil, list("cpu", "2")), "0-3"},
		"CPUs of the scheduler":               {"static", running("p", corev1.PodQOSGuaranteed, labels, given, list("cpu", "2")), "4-5"},
		"a SYSTEM pod":                        {"static", running("p", corev1.PodQOSGuaranteed, map[string]string{extension.LabelPodQoS: "SYSTEM"}, nil, list("cpu", "2")), "6"},
		"a kubelet that binds nobody":         {"none", running("p", corev1.PodQOSGuaranteed, labels, nil, list("cpu", "2")), "0-3"},
		"a kubelet of which nothing is known": {"", running("p", corev1.PodQOSGuaranteed, labels, nil, list("cpu", "2")), "0-3"},
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
