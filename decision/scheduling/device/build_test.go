package device

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

const gpuMemory = "64Gi"

func list(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

// machine builds a Device object.
type machine struct{ object schedulingv1alpha1.Device }

func newMachine() *machine {
	return &machine{object: schedulingv1alpha1.Device{ObjectMeta: metav1.ObjectMeta{Name: "node", Labels: map[string]string{}, Annotations: map[string]string{}}}}
}

// eight is a machine with 8 GPUs, 4 NICs and 1 FPGA: two NUMA nodes with two PCIe switches each.
func eight() *machine {
	m := newMachine()
	for i := range 8 {
		m.gpu(int32(i), int32(i/4), fmt.Sprintf("pcie-%d", i/2))
	}
	for i := range 4 {
		m.nic(int32(i), int32(i/2), fmt.Sprintf("pcie-%d", i))
	}
	m.add(schedulingv1alpha1.FPGA, 0, 0, "pcie-0", list("koordinator.sh/fpga", "100"))
	return m
}

func (m *machine) add(kind schedulingv1alpha1.DeviceType, minor, zone int32, pcie string, resources corev1.ResourceList) *schedulingv1alpha1.DeviceInfo {
	info := schedulingv1alpha1.DeviceInfo{
		Type: kind, UUID: fmt.Sprintf("%s-%d", kind, minor), Minor: &minor, Health: true, Resources: resources,
		Topology: &schedulingv1alpha1.DeviceTopology{NodeID: zone, PCIEID: pcie},
	}
	m.object.Spec.Devices = append(m.object.Spec.Devices, info)
	return &m.object.Spec.Devices[len(m.object.Spec.Devices)-1]
}

func (m *machine) gpu(minor, zone int32, pcie string) *schedulingv1alpha1.DeviceInfo {
	return m.add(schedulingv1alpha1.GPU, minor, zone, pcie,
		list("koordinator.sh/gpu-core", "100", "koordinator.sh/gpu-memory", gpuMemory, "koordinator.sh/gpu-memory-ratio", "100"))
}

// nic has two virtual functions of type general and one of type storage.
func (m *machine) nic(minor, zone int32, pcie string) *schedulingv1alpha1.DeviceInfo {
	info := m.add(schedulingv1alpha1.RDMA, minor, zone, pcie, list("koordinator.sh/rdma", "100"))
	bus := func(i int32) schedulingv1alpha1.VirtualFunction {
		return schedulingv1alpha1.VirtualFunction{Minor: i, BusID: fmt.Sprintf("0000:%02x:00.%d", minor, i)}
	}
	info.VFGroups = []schedulingv1alpha1.VirtualFunctionGroup{
		{Labels: map[string]string{"type": "storage"}, VFs: []schedulingv1alpha1.VirtualFunction{bus(0)}},
		{Labels: map[string]string{"type": "general"}, VFs: []schedulingv1alpha1.VirtualFunction{bus(3), bus(2)}},
	}
	return info
}

func (m *machine) device(kind schedulingv1alpha1.DeviceType, minor int32) *schedulingv1alpha1.DeviceInfo {
	for i := range m.object.Spec.Devices {
		if info := &m.object.Spec.Devices[i]; info.Type == kind && *info.Minor == minor {
			return info
		}
	}
	return nil
}

// broken makes devices not healthy.
func (m *machine) broken(kind schedulingv1alpha1.DeviceType, minors ...int32) *machine {
	for _, minor := range minors {
		m.device(kind, minor).Health = false
	}
	return m
}

func (m *machine) table(json string) *machine {
	m.object.Annotations[extension.AnnotationGPUPartitions] = json
	return m
}

func (m *machine) label(key, value string) *machine {
	m.object.Labels[key] = value
	return m
}

func (m *machine) ledger(held ...Held) *Ledger { return NewLedger(DecodeNode(&m.object), nil, held) }

// podOf requests devices.
func podOf(pairs ...string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "pod", UID: types.UID("pod"), Labels: map[string]string{}, Annotations: map[string]string{}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: list(pairs...)}}}},
	}
}

func annotated(pod *corev1.Pod, key, value string) *corev1.Pod {
	pod.Annotations[key] = value
	return pod
}

func hinted(pod *corev1.Pod, value string) *corev1.Pod {
	return annotated(pod, extension.AnnotationDeviceAllocateHint, value)
}

func joined(pod *corev1.Pod, value string) *corev1.Pod {
	return annotated(pod, extension.AnnotationDeviceJointAllocate, value)
}

// holding is a pod with an allocation, as the annotation of a bound pod.
func holding(t testing.TB, name, annotation string) Held {
	t.Helper()
	pod := annotated(podOf(), extension.AnnotationDeviceAllocated, annotation)
	pod.Name, pod.UID = name, types.UID(name)
	allocation, found := ReadAllocation(pod)
	if !found {
		t.Fatalf("no allocation in %s", annotation)
	}
	return Held{Pod: pod, Allocation: allocation}
}

// whole holds whole devices of a type.
func whole(t testing.TB, kind schedulingv1alpha1.DeviceType, minors ...int32) Held {
	allocations := extension.DeviceAllocations{}
	for _, minor := range minors {
		resources := list("koordinator.sh/gpu-core", "100", "koordinator.sh/gpu-memory-ratio", "100")
		if kind != schedulingv1alpha1.GPU {
			resources = list("koordinator.sh/"+string(kind), "100")
		}
		allocations[kind] = append(allocations[kind], &extension.DeviceAllocation{Minor: minor, Resources: resources})
	}
	pod := podOf()
	pod.Name = fmt.Sprintf("whole-%s-%v", kind, minors)
	if err := extension.SetDeviceAllocations(pod, allocations); err != nil {
		t.Fatal(err)
	}
	return holding(t, pod.Name, pod.Annotations[extension.AnnotationDeviceAllocated])
}

// share holds a percentage of one GPU.
func share(t testing.TB, minor int32, percent int) Held {
	return holding(t, fmt.Sprintf("share-%d-%d", minor, percent),
		fmt.Sprintf(`{"gpu":[{"minor":%d,"resources":{"koordinator.sh/gpu-core":"%d","koordinator.sh/gpu-memory-ratio":"%d"}}]}`, minor, percent, percent))
}

var defaults = NewPolicy(DefaultArgs())

func packing() *Policy {
	args := &Args{ScoringStrategy: &ScoringStrategy{Type: MostAllocated}}
	SetDefaults(args)
	return NewPolicy(args)
}

// chosen is what Allocate took: minors by type.
func chosen(allocation *Allocation) map[string][]int32 {
	minors := map[string][]int32{}
	for i := range allocation.Items {
		name := allocation.Items[i].kind.String()
		minors[name] = append(minors[name], allocation.Items[i].Minor)
	}
	return minors
}

func mustParse(t testing.TB, pod *corev1.Pod) *Request {
	t.Helper()
	request, refusal := ParseRequest(pod, defaults, nil)
	if refusal != nil || request == nil {
		t.Fatalf("request %v, refusal %v", request, refusal)
	}
	return request
}
