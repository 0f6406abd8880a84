package devices

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	cachetesting "k8s.io/client-go/tools/cache/testing"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/device"
	"koordinator.sh/koord/test/eventually"
	"koordinator.sh/koord/test/informertest"
)

type fixture struct {
	state  *State
	source *cachetesting.FakeControllerSource
	client *fake.Clientset
	pods   cache.SharedIndexInformer
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	client := informertest.NewClientset()
	factory := informers.NewSharedInformerFactory(client, 0)
	source := cachetesting.NewFakeControllerSource()
	state, err := NewFrom(source, client, factory.Core().V1().Pods().Informer(), factory.Core().V1().Nodes().Informer())
	if err != nil {
		t.Fatal(err)
	}
	factory.Start(ctx.Done())
	done := make(chan struct{})
	go func() { defer close(done); state.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done; factory.Shutdown() })
	eventually.True(t, "Devices are known", state.Settled)
	return &fixture{state: state, source: source, client: client, pods: factory.Core().V1().Pods().Informer()}
}

func newDevice(gpus int) *schedulingv1alpha1.Device {
	object := &schedulingv1alpha1.Device{ObjectMeta: metav1.ObjectMeta{Name: "node"}}
	for i := range gpus {
		object.Spec.Devices = append(object.Spec.Devices, schedulingv1alpha1.DeviceInfo{
			Type: schedulingv1alpha1.GPU, Minor: new(int32(i)), Health: true, Resources: corev1.ResourceList{
				extension.ResourceGPUCore: resource.MustParse("100"), extension.ResourceGPUMemoryRatio: resource.MustParse("100"),
			},
		})
	}
	return object
}

func newPod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)},
		Spec: corev1.PodSpec{NodeName: "node", Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{extension.ResourceGPU: resource.MustParse("100")},
		}}}},
	}
}

var policy = device.NewPolicy(device.DefaultArgs())

func TestDevicesComeAndGo(t *testing.T) {
	f := newFixture(t)
	if f.state.Any() || f.state.Node("node") != nil {
		t.Fatal("there is a Device from the start")
	}
	f.source.Add(newDevice(1))
	eventually.True(t, "the Device is there", func() bool { return f.state.Node("node") != nil })
	first := f.state.Node("node")
	f.source.Modify(newDevice(2))
	eventually.True(t, "the Device is replaced", func() bool { return f.state.Node("node") != first })
	if !f.state.Any() {
		t.Error("no Device is counted")
	}
	f.source.Delete(newDevice(2))
	eventually.True(t, "the Device is gone", func() bool { return f.state.Node("node") == nil })
	if f.state.Any() {
		t.Error("a Device that is gone is counted")
	}
}

// TestReservationsOutliveTheirAnnotation lets the informer see an allocation before the scheduler's cache does: the pod in
// the cache still has no annotation, and its devices must not be given away.
func TestReservationsOutliveTheirAnnotation(t *testing.T) {
	f := newFixture(t)
	f.source.Add(newDevice(1))
	eventually.True(t, "the Device is there", f.state.Any)
	info := framework.NewNodeInfo()
	info.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node"}})
	pod := newPod("first")
	request, refusal := device.ParseRequest(pod, policy, nil)
	if refusal != nil {
		t.Fatal(refusal)
	}
	fits := func() bool {
		return device.Fits(device.Input{Ledger: f.state.Ledger(info), Request: request, Policy: policy}, nil) == nil
	}
	allocation, refusal := device.Allocate(device.Input{Ledger: f.state.Ledger(info), Request: request, Policy: policy}, nil)
	if refusal != nil {
		t.Fatal(refusal)
	}
	f.state.Reserve("node", pod, allocation)
	assumed, err := framework.NewPodInfo(pod)
	if err != nil {
		t.Fatal(err)
	}
	info.AddPodInfo(assumed)
	bound := pod.DeepCopy()
	if err := extension.SetDeviceAllocations(bound, allocation.Annotation()); err != nil {
		t.Fatal(err)
	}
	if _, err := f.client.CoreV1().Pods("default").Create(t.Context(), bound, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "the informer shows the annotation", func() bool {
		return len(f.pods.GetIndexer().ListKeys()) == 1
	})
	eventually.Never(t, "the device is given away while the annotation travels", 100*time.Millisecond, fits)
	if err := f.client.CoreV1().Pods("default").Delete(t.Context(), "first", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "the device is free after the pod is gone", fits)
}

// TestReservationsShrink lets the pod of a reservation say that others were given what it held.
func TestReservationsShrink(t *testing.T) {
	f := newFixture(t)
	reserve := newPod("reserve")
	all := annotated(t, reserve, `{"gpu":[{"minor":0},{"minor":1}]}`)
	held, _ := device.ReadAllocation(all)
	f.state.Reserve("node", reserve, held)
	f.state.ReservePodHandler().OnUpdate(all, annotated(t, reserve, `{"gpu":[{"minor":1}]}`))
	if left, _ := f.state.Holds(reserve); left.GPUMinors() != "1" {
		t.Errorf("the reservation holds GPUs %s", left.GPUMinors())
	}
}

func annotated(t *testing.T, pod *corev1.Pod, allocated string) *corev1.Pod {
	t.Helper()
	pod = pod.DeepCopy()
	pod.Annotations = map[string]string{extension.AnnotationDeviceAllocated: allocated}
	return pod
}

func TestTemplatesAreWatchedOnDemand(t *testing.T) {
	f := newFixture(t)
	if len(f.client.Actions()) > 4 {
		t.Errorf("%d requests before a pod asks", len(f.client.Actions()))
	}
	known := func() (device.Templates, bool) {
		return f.state.Templates("koordinator-system", "gpu-shared-resource-templates")
	}
	eventually.True(t, "it is known that there are none", func() bool { _, ok := known(); return ok })
	object := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "koordinator-system", Name: "gpu-shared-resource-templates"},
		Data:       map[string]string{templateKey: "huawei-Ascend-310P:\n  vir01: {huawei.com/npu-core: 1}\n"},
	}
	maps := f.client.CoreV1().ConfigMaps("koordinator-system")
	if _, err := maps.Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "there is one", func() bool { templates, _ := known(); return len(templates) == 1 })
	broken := object.DeepCopy()
	broken.Data[templateKey] = "["
	f.state.templates.source(types.NamespacedName{Namespace: object.Namespace, Name: object.Name}).observe(broken)
	if templates, _ := known(); len(templates) != 1 {
		t.Error("a broken ConfigMap took the templates away")
	}
	if err := maps.Delete(t.Context(), object.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "there are none again", func() bool { templates, _ := known(); return len(templates) == 0 })
}
