package numa

import (
	"encoding/json"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
)

func list(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

// newNode has the given labels and annotations, in pairs; keys with a dot before the slash in the node domain.
func newNode(pairs ...string) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{}, Annotations: map[string]string{}}}
	for i := 0; i < len(pairs); i += 2 {
		node.Labels[pairs[i]], node.Annotations[pairs[i]] = pairs[i+1], pairs[i+1]
	}
	return node
}

// newTopology has zones of the given cores, with two CPUs each and 10Gi of memory for every zone.
func newTopology(zones, cores int) *topologyv1alpha1.NodeResourceTopology {
	topology := &topologyv1alpha1.NodeResourceTopology{ObjectMeta: metav1.ObjectMeta{Name: "n", Annotations: map[string]string{}}}
	detail := extension.CPUTopology{}
	for zone := range zones {
		for core := range cores {
			for range 2 {
				id := len(detail.Detail)
				detail.Detail = append(detail.Detail, extension.CPUInfo{ID: int32(id), Core: int32(zone*cores + core), Node: int32(zone), Socket: int32(zone)})
			}
		}
		cpu, memory := *resource.NewQuantity(int64(cores*2), resource.DecimalSI), resource.MustParse("10Gi")
		topology.Zones = append(topology.Zones, topologyv1alpha1.Zone{Name: fmt.Sprintf("node-%d", zone), Type: "Node", Resources: topologyv1alpha1.ResourceInfoList{
			{Name: "cpu", Capacity: cpu, Allocatable: cpu, Available: cpu}, {Name: "memory", Capacity: memory, Allocatable: memory, Available: memory},
		}})
	}
	encoded, err := json.Marshal(detail)
	if err != nil {
		panic(err)
	}
	topology.Annotations[extension.AnnotationNodeCPUTopology] = string(encoded)
	return topology
}

func newPod(qos extension.QoSClass, annotations map[string]string, pairs ...string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: types.UID("web"), Labels: map[string]string{extension.LabelPodQoS: string(qos)}, Annotations: annotations},
		Spec: corev1.PodSpec{Priority: new(int32(9500)), Containers: []corev1.Container{{
			Name: "main", Resources: corev1.ResourceRequirements{Requests: list(pairs...)},
		}}},
	}
}

func spec(policy string) map[string]string {
	return map[string]string{extension.AnnotationResourceSpec: policy}
}

func aligned(policy extension.NUMATopologyPolicy) map[string]string {
	return map[string]string{extension.AnnotationNUMATopologySpec: fmt.Sprintf(`{"numaTopologyPolicy":%q}`, policy)}
}

func status(text string) *corev1.Pod {
	pod := newPod(extension.QoSLSR, map[string]string{extension.AnnotationResourceStatus: text}, "cpu", "1")
	pod.Name = "other"
	return pod
}

func ledgerOf(t testing.TB, node *Node, pods ...*corev1.Pod) *Ledger {
	t.Helper()
	var holders []Holder
	for _, pod := range pods {
		held, found := Held(pod)
		if !found {
			t.Fatalf("pod %s holds nothing: %v", pod.Name, pod.Annotations)
		}
		holders = append(holders, Holder{Namespace: pod.Namespace, Name: pod.Name, Allocation: held})
	}
	return NewLedger(node, holders)
}
