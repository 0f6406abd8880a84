package invariants

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
)

func list(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

// podOf is a bound pod that requests pairs.
func podOf(name string, pairs ...string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name), Labels: map[string]string{}, Annotations: map[string]string{}},
		Spec: corev1.PodSpec{
			NodeName:   "n1",
			Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: list(pairs...)}}},
		},
	}
}

func with(pod *corev1.Pod, annotations ...string) *corev1.Pod {
	for i := 0; i < len(annotations); i += 2 {
		pod.Annotations[annotations[i]] = annotations[i+1]
	}
	return pod
}

// lsr is a pod that owns CPUs and, if shares is not empty, took them from zones.
func lsr(name, cpu, cpus, shares string) *corev1.Pod {
	pod := podOf(name, "cpu", cpu)
	pod.Labels[extension.LabelPodQoS] = string(extension.QoSLSR)
	status := fmt.Sprintf(`{"cpuset":%q}`, cpus)
	if shares != "" {
		status = fmt.Sprintf(`{"cpuset":%q,"numaNodeResources":%s}`, cpus, shares)
	}
	return with(pod, extension.AnnotationResourceStatus, status)
}

func gpu(name string, pairs []string, allocated string) *corev1.Pod {
	return with(podOf(name, pairs...), extension.AnnotationDeviceAllocated, allocated)
}

// nodeOf has two zones of two cores with two threads, CPU 0 kept for the kubelet and 7 for the node, and two GPUs and a
// network card.
func nodeOf(pods ...*corev1.Pod) *Node {
	zone := func(number int, cpu string) topologyv1alpha1.Zone {
		return topologyv1alpha1.Zone{Name: fmt.Sprintf("node-%d", number), Type: "Node", Resources: topologyv1alpha1.ResourceInfoList{
			{Name: "cpu", Capacity: resource.MustParse("4"), Allocatable: resource.MustParse(cpu)},
			{Name: "memory", Capacity: resource.MustParse("8Gi"), Allocatable: resource.MustParse("8Gi")},
		}}
	}
	var cpus []string
	for id := range 8 {
		cpus = append(cpus, fmt.Sprintf(`{"id":%d,"core":%d,"socket":0,"node":%d}`, id, id/2, id/4))
	}
	device := func(kind schedulingv1alpha1.DeviceType, minor int32, pairs ...string) schedulingv1alpha1.DeviceInfo {
		return schedulingv1alpha1.DeviceInfo{Type: kind, Minor: &minor, Health: true, UUID: fmt.Sprintf("%s-%d", kind, minor), Resources: list(pairs...)}
	}
	full := []string{"koordinator.sh/gpu-core", "100", "koordinator.sh/gpu-memory-ratio", "100", "koordinator.sh/gpu-memory", "16Gi"}
	return &Node{
		Name: "n1",
		Object: &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{}, Annotations: map[string]string{extension.AnnotationNodeReservation: `{"reservedCPUs":"7"}`}},
			Status:     corev1.NodeStatus{Allocatable: list("cpu", "6", "memory", "16Gi", "pods", "5", "kubernetes.io/batch-cpu", "4000", "nvidia.com/gpu", "2", "koordinator.sh/gpu", "200", "koordinator.sh/rdma", "100")},
		},
		Topology: &topologyv1alpha1.NodeResourceTopology{
			ObjectMeta: metav1.ObjectMeta{Name: "n1", Annotations: map[string]string{
				extension.AnnotationNodeCPUTopology:         `{"detail":[` + strings.Join(cpus, ",") + `]}`,
				extension.AnnotationKubeletCPUManagerPolicy: `{"reservedCPUs":"0"}`,
			}},
			Zones: topologyv1alpha1.ZoneList{zone(0, "3"), zone(1, "3")},
		},
		Device: &schedulingv1alpha1.Device{Spec: schedulingv1alpha1.DeviceSpec{Devices: []schedulingv1alpha1.DeviceInfo{
			device(schedulingv1alpha1.GPU, 0, full...), device(schedulingv1alpha1.GPU, 1, full...), device(schedulingv1alpha1.RDMA, 0, "koordinator.sh/rdma", "100"),
		}}},
		Pods: pods,
	}
}

// all runs every check of a node on its last pod.
func all(n *Node) []Violation {
	pod := n.Pods[len(n.Pods)-1]
	var violations []Violation
	for _, found := range [][]Violation{
		n.WithinAllocatable(pod), n.CPUsOwnedOnce(), n.CPUsGivenAway(pod), n.DevicesOwnedOnce(), n.WithinDevices(pod), n.DevicesGivenAway(pod),
		n.WithinZones(pod), n.WithinPolicy(pod), n.ReservationsWithinAllocated(), n.CPUsAgree(pod), n.SharesAgree(pod), n.DevicesAgree(pod),
	} {
		violations = append(violations, found...)
	}
	return violations
}

func expect(t *testing.T, violations []Violation, invariant, detail string) {
	t.Helper()
	for _, v := range violations {
		if v.Invariant == invariant && strings.Contains(v.Detail, detail) {
			return
		}
	}
	t.Errorf("no violation of %q that says %q among %v", invariant, detail, violations)
}
