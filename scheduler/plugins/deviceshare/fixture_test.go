package deviceshare

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/device"
	"koordinator.sh/koord/scheduler/allocation"
	"koordinator.sh/koord/scheduler/plugins/nodenumaresource"
)

// memory is a State without a cluster behind it.
type memory struct {
	unsettled   bool
	devices     map[string]*device.Node
	allocations *allocation.Cache[*device.Node, device.Allocation, *device.Ledger]
	templates   device.Templates
	unknown     bool
}

func newMemory() *memory {
	build := func(node *corev1.Node, offer *device.Node, held []allocation.Holding[device.Allocation]) *device.Ledger {
		pods := make([]device.Held, len(held))
		for i := range held {
			pods[i] = device.Held{Pod: held[i].Pod, Allocation: held[i].Allocation}
		}
		return device.NewLedger(offer, node.Labels, pods)
	}
	return &memory{devices: map[string]*device.Node{}, allocations: allocation.NewCache(allocation.Rules[*device.Node, device.Allocation, *device.Ledger]{Read: device.ReadAllocation, Build: build})}
}

func (m *memory) Settled() bool                                     { return !m.unsettled }
func (m *memory) Any() bool                                         { return len(m.devices) > 0 }
func (m *memory) Node(name string) *device.Node                     { return m.devices[name] }
func (m *memory) Decode(o *schedulingv1alpha1.Device) *device.Node  { return device.DecodeNode(o) }
func (m *memory) Templates(string, string) (device.Templates, bool) { return m.templates, !m.unknown }
func (m *memory) Reserve(node string, pod *corev1.Pod, allocation device.Allocation) {
	m.allocations.Reserve(node, pod, allocation)
}
func (m *memory) Unreserve(pod types.UID) { m.allocations.Unreserve(pod) }

func (m *memory) Ledger(info fwk.NodeInfo) *device.Ledger {
	if node := m.devices[info.Node().Name]; node != nil {
		return m.allocations.Of(info, node)
	}
	return nil
}

func (m *memory) Holds(pod *corev1.Pod) (device.Allocation, bool) {
	if allocation, found := m.allocations.Reserved(pod.UID); found {
		return allocation, true
	}
	return device.ReadAllocation(pod)
}

type fixture struct {
	plugin *Plugin
	state  *memory
	infos  map[string]fwk.NodeInfo
	hooks  *Hooks
	handle fwk.Handle
}

// newFixture builds the plugin in a real framework, with nodes that each have a Device.
func newFixture(t testing.TB, args string, objects ...*schedulingv1alpha1.Device) *fixture {
	t.Helper()
	metrics.Register()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	f := &fixture{state: newMemory(), infos: map[string]fwk.NodeInfo{}, hooks: NewHooks()}
	var nodes []*corev1.Node
	for _, object := range objects {
		f.state.devices[object.Name] = device.DecodeNode(object)
		nodes = append(nodes, newNode(object.Name))
	}
	snapshot := cache.NewSnapshot(nil, nodes)
	factory := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
	handle, err := frameworkruntime.NewFramework(ctx, nil, nil, frameworkruntime.WithInformerFactory(factory), frameworkruntime.WithSnapshotSharedLister(snapshot))
	if err != nil {
		t.Fatal(err)
	}
	var object runtime.Object
	if args != "" {
		object = &runtime.Unknown{Raw: []byte(args), ContentType: runtime.ContentTypeJSON}
	}
	plugin, err := Factory(f.state, f.hooks, nodenumaresource.NewHooks())(ctx, object, handle)
	if err != nil {
		t.Fatal(err)
	}
	f.plugin, f.handle = plugin.(*Plugin), handle
	for _, node := range nodes {
		if err := factory.Core().V1().Nodes().Informer().GetIndexer().Add(node); err != nil {
			t.Fatal(err)
		}
		if f.infos[node.Name], err = snapshot.NodeInfos().Get(node.Name); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func newNode(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
}

func list(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

// newDevice has 8 GPUs of 64Gi on 4 PCIe switches and 2 NUMA nodes, and a NIC on each switch.
func newDevice(name string) *schedulingv1alpha1.Device {
	object := &schedulingv1alpha1.Device{ObjectMeta: metav1.ObjectMeta{Name: name}}
	add := func(kind schedulingv1alpha1.DeviceType, minor, pcie int, resources corev1.ResourceList) {
		object.Spec.Devices = append(object.Spec.Devices, schedulingv1alpha1.DeviceInfo{
			Type: kind, Minor: new(int32(minor)), UUID: fmt.Sprintf("%s-%d", kind, minor), Health: true, Resources: resources,
			Topology: &schedulingv1alpha1.DeviceTopology{NodeID: int32(pcie / 2), PCIEID: fmt.Sprint("pcie-", pcie)},
		})
	}
	for i := range 8 {
		add(schedulingv1alpha1.GPU, i, i/2, list("koordinator.sh/gpu-core", "100", "koordinator.sh/gpu-memory", "64Gi", "koordinator.sh/gpu-memory-ratio", "100"))
	}
	for i := range 4 {
		add(schedulingv1alpha1.RDMA, i, i, list("koordinator.sh/rdma", "100"))
	}
	return object
}

func newPod(name string, pairs ...string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), Labels: map[string]string{}, Annotations: map[string]string{}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: list(pairs...)}}}},
	}
}

// preFilter runs PreFilter and returns the state of the cycle.
func (f *fixture) preFilter(t testing.TB, pod *corev1.Pod) fwk.CycleState {
	t.Helper()
	state := framework.NewCycleState()
	if _, status := f.plugin.PreFilter(context.Background(), state, pod, nil); !status.IsSuccess() && status.Code() != fwk.Skip {
		t.Fatalf("PreFilter: %v", status)
	}
	return state
}

// holds adds a pod with an allocation to a node.
func (f *fixture) holds(t testing.TB, node, name, annotation string) *corev1.Pod {
	t.Helper()
	pod := newPod(name, "koordinator.sh/gpu", "100")
	pod.Spec.NodeName = node
	pod.Annotations[extension.AnnotationDeviceAllocated] = annotation
	f.add(t, pod)
	return pod
}

func (f *fixture) add(t testing.TB, pod *corev1.Pod) {
	t.Helper()
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		t.Fatal(err)
	}
	f.infos[pod.Spec.NodeName].AddPodInfo(info)
}

const allGPUs = `{"gpu":[{"minor":0,"resources":{"koordinator.sh/gpu-core":"100","koordinator.sh/gpu-memory-ratio":"100"}},{"minor":1,"resources":{"koordinator.sh/gpu-core":"100","koordinator.sh/gpu-memory-ratio":"100"}},
{"minor":2,"resources":{"koordinator.sh/gpu-core":"100","koordinator.sh/gpu-memory-ratio":"100"}},{"minor":3,"resources":{"koordinator.sh/gpu-core":"100","koordinator.sh/gpu-memory-ratio":"100"}},
{"minor":4,"resources":{"koordinator.sh/gpu-core":"100","koordinator.sh/gpu-memory-ratio":"100"}},{"minor":5,"resources":{"koordinator.sh/gpu-core":"100","koordinator.sh/gpu-memory-ratio":"100"}},
{"minor":6,"resources":{"koordinator.sh/gpu-core":"100","koordinator.sh/gpu-memory-ratio":"100"}},{"minor":7,"resources":{"koordinator.sh/gpu-core":"70","koordinator.sh/gpu-memory-ratio":"70"}}]}`
