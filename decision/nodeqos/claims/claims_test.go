package claims

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
)

// pod of a class that requests whole CPUs, and claims some.
func pod(name string, class extension.QoSClass, cpus, claim, devices string) *corev1.Pod {
	out := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: name, Annotations: map[string]string{},
			Labels: map[string]string{extension.LabelPodQoS: string(class), extension.LabelPodPriorityClass: string(extension.PriorityProd)},
		},
		Spec: corev1.PodSpec{NodeName: "a", Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpus)}, Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpus)},
		}}}},
	}
	if claim != "" {
		out.Annotations[extension.AnnotationResourceStatus] = `{"cpuset":"` + claim + `"}`
	}
	if devices != "" {
		out.Annotations[extension.AnnotationDeviceAllocated] = devices
	}
	return out
}

func TestClaimsThatAreNotGivenAreTold(t *testing.T) {
	const gpu = `{"gpu":[{"minor":0,"resources":{"koordinator.sh/gpu-core":"100","koordinator.sh/gpu-memory-ratio":"100"}}]}`
	tests := map[string]struct {
		pods []*corev1.Pod
		want []string
	}{
		"what was requested": {pods: []*corev1.Pod{pod("own", extension.QoSLSR, "2", "0-1", ""), pod("other", extension.QoSLSR, "2", "2-3", "")}},
		"two owners": {pods: []*corev1.Pod{pod("first", extension.QoSLSR, "2", "0-1", ""), pod("second", extension.QoSLSR, "2", "1-2", "")}, want: []string{
			"KOORD0305 warning shop/first: pod shop/first does not get all that it claims: CPUs 1 are also claimed by another pod, and so belong to neither",
			"KOORD0305 warning shop/second: pod shop/second does not get all that it claims: CPUs 1 are also claimed by another pod, and so belong to neither",
		}},
		"a class that owns no CPUs": {pods: []*corev1.Pod{pod("thief", extension.QoSLS, "1", "0-1", "")}, want: []string{
			"KOORD0305 warning shop/thief: pod shop/thief does not get all that it claims: CPUs 0-1 are claimed by annotation scheduling.koordinator.sh/resource-status, and only prod pods of QoS class LSE or LSR own CPUs",
		}},
		"devices that were not requested": {pods: []*corev1.Pod{pod("thief", extension.QoSLS, "1", "", gpu)}, want: []string{
			"KOORD0305 warning shop/thief: pod shop/thief does not get all that it claims: 1 of 1 devices are claimed beyond what the pod requests",
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range Findings(test.pods) {
				got = append(got, f.Code+" "+string(f.Severity)+" "+f.Object.Namespace+"/"+f.Object.Name+": "+f.Message)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}
